package cli

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"herdscope/engine/knob"
	"herdscope/engine/queue"
	"herdscope/scenarios"
)

func (a *app) knobsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "knobs",
		Short: "List what --set, scenario files and the tuning panel can change",
		Long: "List what --set, scenario files and the tuning panel can change.\n\n" +
			"Not in the list are the fields of a scenario's own faults, which --set can change\n" +
			"as well, as in fault.restart.length=1s; `herdscope scenarios show` shows them. Nor are\n" +
			"the limits that a scenario's scopes can have of their own: scopes.NAME.limit, as\n" +
			"queue.limit, and scopes.NAME.capacity, as queue.capacity.",
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return a.listKnobs(asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

// knobEntry is one knob in `knobs --json`.
type knobEntry struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind"`
	Unit    string   `json:"unit"`
	Allowed string   `json:"allowed"`
	Choices []string `json:"choices"`
	// Tunable says that it can be changed while a run goes on.
	Tunable bool   `json:"tunable"`
	Doc     string `json:"doc"`
}

func (a *app) listKnobs(asJSON bool) error {
	if asJSON {
		entries := []knobEntry{}
		for _, k := range scenarios.Knobs() {
			entries = append(entries, newKnobEntry(k))
		}
		return writeJSON(a.out, entries)
	}
	knobs := scenarios.Knobs()
	width := 0
	for _, k := range knobs {
		width = max(width, len(k.Name))
	}
	var b bytes.Buffer
	for _, k := range knobs {
		fmt.Fprintf(&b, "%-*s  %s%s\n%*s  %s\n", width, k.Name, k.Doc, whenFixed(k), width, "", allowed(k))
		if k.Name == "queue.order" {
			listBounds(&b, width)
		}
	}
	return write(a.out, b.Bytes())
}

// listBounds says of each order of a queue how long it lets anybody wait.
func listBounds(b *bytes.Buffer, indent int) {
	for i, name := range queue.OrderNames() {
		fmt.Fprintf(b, "%*s  %s: %s\n", indent, "", name, queue.Order(i).Bound())
	}
}

func newKnobEntry(k knob.Spec) knobEntry {
	return knobEntry{
		Name: k.Name, Kind: kindNames[k.Kind], Unit: k.Unit, Allowed: k.Allowed(),
		Choices: append([]string{}, k.Choices...), Tunable: !k.Fixed, Doc: k.Doc,
	}
}

var kindNames = map[knob.Kind]string{
	knob.Int: "int", knob.Duration: "duration", knob.Ratio: "ratio", knob.Share: "share",
	knob.Rate: "rate", knob.Choice: "choice", knob.Switch: "switch",
}

func allowed(k knob.Spec) string {
	if k.Unit == "" {
		return k.Allowed()
	}
	return k.Allowed() + " (" + k.Unit + ")"
}

func whenFixed(k knob.Spec) string {
	if k.Fixed {
		return " (before a run only)"
	}
	return ""
}
