package cli

import (
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Say which build this is",
		Args:  noArguments,
		RunE:  func(*cobra.Command, []string) error { return write(a.out, []byte(version()+"\n")) },
	}
}

// version is what the build knows of itself: the module's version, or the
// commit it was built from, and the platform.
func version() string {
	parts := []string{"herdscope"}
	if info, ok := debug.ReadBuildInfo(); ok {
		parts = append(parts, build(info))
	}
	parts = append(parts, runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH)
	return strings.Join(parts, " ")
}

func build(info *debug.BuildInfo) string {
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	commit := settings["vcs.revision"]
	if commit == "" {
		return "devel"
	}
	if settings["vcs.modified"] == "true" {
		return commit[:min(12, len(commit))] + "+changes"
	}
	return commit[:min(12, len(commit))]
}
