package cli

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"herdscope/engine/preset"
)

func (a *app) presetsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "presets",
		Short: "List the retry rules of well-known clients, for --set retry.preset=NAME",
		Long: "List the retry rules of well-known clients.\n\n" +
			"--set retry.preset=NAME takes one over, and so does preset: NAME under retry: in a\n" +
			"scenario, or the knob in the tuning panel; what is set after it stands.",
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return a.listPresets(asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

// presetEntry is one preset in `presets --json`.
type presetEntry struct {
	Name    string `json:"name"`
	Library string `json:"library"`
	Version string `json:"version"`
	Retries int    `json:"retries"`
	Endless bool   `json:"endless"`
	Budget  string `json:"budget"`
	Doc     string `json:"doc"`
	// Fault is what the preset reproduces of the library's defects, Differs what
	// it does otherwise.
	Fault   string `json:"fault"`
	Differs string `json:"differs"`
}

func (a *app) listPresets(asJSON bool) error {
	if asJSON {
		entries := []presetEntry{}
		for _, p := range preset.All() {
			entries = append(entries, presetEntry{
				Name: p.Name, Library: p.Library, Version: p.Version, Retries: p.Retries,
				Endless: p.Endless, Budget: p.Budget.Kind.String(), Doc: p.Doc,
				Fault: p.Fault, Differs: p.Differs,
			})
		}
		return writeJSON(a.out, entries)
	}
	width := 0
	for _, name := range preset.Names() {
		width = max(width, len(name))
	}
	var b bytes.Buffer
	for _, p := range preset.All() {
		describePreset(&b, p, width)
	}
	return write(a.out, b.Bytes())
}

// describePreset writes a preset, its name in a column of the given width.
func describePreset(b *bytes.Buffer, p preset.Preset, width int) {
	title := strings.TrimSpace(p.Library + " " + p.Version)
	fmt.Fprintf(b, "%-*s  %s\n%*s  %s\n", width, p.Name, title, width, "", p.Doc)
	if p.Budget.Kind != 0 {
		fmt.Fprintf(b, "%*s  budget: %v\n", width, "", p.Budget.Kind)
	}
	if p.Fault != "" {
		fmt.Fprintf(b, "%*s  faithful to a fault: %s\n", width, "", p.Fault)
	}
	if p.Differs != "" {
		fmt.Fprintf(b, "%*s  differs: %s\n", width, "", p.Differs)
	}
}
