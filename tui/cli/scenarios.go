package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"herdscope/scenarios"
)

func (a *app) scenariosCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "scenarios",
		Short: "List the built-in scenarios, or show one",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return a.listScenarios(false)
		},
	}
	cmd.AddCommand(a.scenariosListCommand(), a.scenariosShowCommand())
	return cmd
}

func (a *app) scenariosListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the built-in scenarios",
		Args:  noArguments,
		RunE:  func(*cobra.Command, []string) error { return a.listScenarios(asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

func (a *app) scenariosShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "show NAME|FILE",
		Short:             "Show a scenario as YAML, to be saved and changed",
		Args:              exactlyOne,
		ValidArgsFunction: completeScenario,
		RunE:              func(_ *cobra.Command, args []string) error { return a.showScenario(args[0]) },
	}
}

// entry is one scenario in `scenarios list --json`.
type entry struct {
	Name      string  `json:"name"`
	Title     string  `json:"title"`
	Story     string  `json:"story"`
	Clients   int     `json:"clients"`
	DurationS float64 `json:"duration_s"`
	Seed      uint64  `json:"seed"`
}

func (a *app) listScenarios(asJSON bool) error {
	if asJSON {
		entries := []entry{}
		for _, s := range scenarios.Library() {
			entries = append(entries, entry{s.Name, s.Title, s.Story, s.Fleet.Clients, s.Duration.Seconds(), s.Seed})
		}
		return writeJSON(a.out, entries)
	}
	var b bytes.Buffer
	for _, s := range scenarios.Library() {
		fmt.Fprintf(&b, "%-14s %s\n", s.Name, s.Title)
	}
	return write(a.out, b.Bytes())
}

func (a *app) showScenario(ref string) error {
	s, err := a.find(ref)
	if err != nil {
		return err
	}
	text, err := s.YAML()
	if err != nil {
		return fmt.Errorf("show %s: %w", s.Name, err)
	}
	return write(a.out, text)
}

func completeScenario(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return scenarioNames(), cobra.ShellCompDirectiveDefault
}

func writeJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return write(w, b.Bytes())
}

// write writes all of text at once, so that an error cannot be missed.
func write(w io.Writer, text []byte) error {
	if _, err := w.Write(text); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}
