package scenarios

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"herdscope/engine/fleet"
	"herdscope/engine/wire"
	"herdscope/faultserver/fault"
)

// YAML is the scenario as a file that Parse reads back as the same scenario,
// provided that it is in order and its routes and scopes are numbered as they
// first appear. It holds what differs from Default. The error is that of
// Validate.
func (s Scenario) YAML() ([]byte, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("write scenario: %w", err)
	}
	w := writer{}
	w.head(&s)
	for _, section := range sections {
		w.section(&s, section)
	}
	w.faults(s.Server.Faults)
	w.timeline(&s)
	return w.Bytes(), nil
}

// writer writes fields of a file.
type writer struct{ bytes.Buffer }

func (w *writer) field(depth int, key, text string) {
	fmt.Fprintf(w, "%s%s: %s\n", strings.Repeat("  ", depth), key, text)
}

func (w *writer) heading(depth int, key string) {
	fmt.Fprintf(w, "%s%s:\n", strings.Repeat("  ", depth), key)
}

func (w *writer) head(s *Scenario) {
	standard := Default()
	w.field(0, "version", version)
	w.field(0, "name", scalarText(s.Name))
	if s.Title != "" {
		w.field(0, "title", scalarText(s.Title))
	}
	if s.Story != "" {
		w.story(s.Story)
	}
	if s.Seed != standard.Seed {
		w.field(0, "seed", strconv.FormatUint(s.Seed, 10))
	}
	if s.Duration != standard.Duration {
		w.field(0, "duration", DurationSpec.Format(int64(s.Duration)))
	}
	if s.Drain != standard.Drain {
		w.field(0, "drain", DrainSpec.Format(int64(s.Drain)))
	}
}

// standard is what a file that says nothing but the preset would hold, save that
// it has no preset: so the preset itself is written, and what differs from it.
func (s *Scenario) standard() Scenario {
	standard := Default()
	if s.Fleet.Preset > 0 {
		k := &settings[settingOf[fleet.PresetKnob]]
		k.set(&standard, int64(s.Fleet.Preset))
		standard.Fleet.Preset = 0
	}
	return standard
}

// section writes what a section says that differs from the defaults.
func (w *writer) section(s *Scenario, section string) {
	switch section {
	case "classes":
		w.classes(s)
	case "scopes":
		w.scopes(s)
	case "services":
		w.services(s)
	case "routes":
		w.routeTimes(s)
	default:
		w.knobs(s, section)
	}
}

// knobs writes the knobs of a section that differ from the defaults, with a
// heading for each level that they are in.
func (w *writer) knobs(s *Scenario, section string) {
	standard := s.standard()
	var above []string
	for i := range settings {
		k := &settings[i]
		path := strings.Split(fieldOf(k.Name), ".")
		if k.Name == afterQuantiles && section == path[0] && len(s.Server.Service.Quantiles) > 0 {
			above = w.headings(above, path)
			w.quantiles(len(above), &s.Server.Service)
		}
		if path[0] != section || k.get(s) == k.get(&standard) {
			continue
		}
		above = w.headings(above, path)
		w.field(len(above), path[len(above)], scalarText(k.Format(k.get(s))))
	}
}

// headings opens the levels of a path that the line above is not in already.
func (w *writer) headings(above, path []string) []string {
	levels := path[:len(path)-1]
	same := 0
	for same < min(len(above), len(levels)) && above[same] == levels[same] {
		same++
	}
	for depth := same; depth < len(levels); depth++ {
		w.heading(depth, levels[depth])
	}
	return levels
}

// classes writes what the requests of each class are like, if that differs from
// the defaults.
func (w *writer) classes(s *Scenario) {
	standard := s.standard()
	paths, scopes := s.places(&standard)
	var differing [wire.NumClasses][]*Setting
	differs := paths != noPlaces || scopes != noPlaces || s.Headers != noPlaces
	for class := range differing {
		differing[class] = classSettings(wire.Class(class), s, &standard)
		differs = differs || len(differing[class]) > 0 ||
			s.Fleet.Mix[class].Weight != standard.Fleet.Mix[class].Weight
	}
	if !differs {
		return
	}
	w.heading(0, "classes")
	for class := range differing {
		weight := s.Fleet.Mix[class].Weight
		if weight == 0 && len(differing[class]) == 0 && paths[class] == "" && scopes[class] == "" &&
			s.Headers[class] == "" {
			continue
		}
		w.heading(1, wire.Class(class).String())
		w.field(2, "weight", strconv.Itoa(weight))
		w.optional(2, "path", paths[class])
		w.optional(2, "scope", scopes[class])
		w.optional(2, "header", s.Headers[class])
		for _, k := range differing[class] {
			w.field(2, lastPart(k.Name), scalarText(k.Format(k.get(s))))
		}
	}
}

func lastPart(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// classSettings are the knobs of a class that differ from the defaults, its
// weight aside.
func classSettings(class wire.Class, s, standard *Scenario) []*Setting {
	prefix := "classes." + class.String() + "."
	var differing []*Setting
	for i := range settings {
		k := &settings[i]
		key, ok := strings.CutPrefix(fieldOf(k.Name), prefix)
		if ok && key != "weight" && k.get(s) != k.get(standard) {
			differing = append(differing, k)
		}
	}
	return differing
}

var noPlaces [wire.NumClasses]string

// places is the paths and scopes to write: as few as make Parse come to the same
// ones.
func (s *Scenario) places(standard *Scenario) (paths, scopes [wire.NumClasses]string) {
	var asks [wire.NumClasses]bool
	for i, mix := range s.Fleet.Mix {
		paths[i], scopes[i] = s.Routes[mix.Route], s.Scopes[mix.Scope]
		asks[i] = mix.Weight > 0
	}
	return fewest(paths, asks, standard.Routes[0]), fewest(scopes, asks, standard.Scopes[0])
}

// fewest is the names to write so that they resolve to these: none, those of the
// classes that ask for something, or all.
func fewest(
	full [wire.NumClasses]string, asks [wire.NumClasses]bool, fallback string,
) [wire.NumClasses]string {
	short := full
	for i := range short {
		if !asks[i] {
			short[i] = ""
		}
	}
	for _, candidate := range [][wire.NumClasses]string{noPlaces, short} {
		if resolve(candidate, fallback) == full {
			return candidate
		}
	}
	return full
}

// resolve is what each class's name comes to when it is read.
func resolve(names [wire.NumClasses]string, fallback string) (full [wire.NumClasses]string) {
	list, of := number(names, fallback)
	for i := range full {
		full[i] = list[of[i]]
	}
	return full
}

func (w *writer) optional(depth int, key, text string) {
	if text != "" {
		w.field(depth, key, scalarText(text))
	}
}

func (w *writer) faults(faults []fault.Fault) {
	if len(faults) == 0 {
		return
	}
	w.heading(0, "faults")
	for i := range faults {
		f := &faults[i]
		standard := fault.NewFault(f.Kind)
		w.item("name", scalarText(f.Name))
		w.field(2, "kind", f.Kind.String())
		for j := range fault.FaultFields {
			known := &fault.FaultFields[j]
			if isWritten(known, f, &standard) {
				w.field(2, known.Name, scalarText(known.Format(known.Get(f))))
			}
		}
		for j := range fault.TextFields {
			known := &fault.TextFields[j]
			w.optional(2, known.Name, known.Text(f))
		}
	}
}

// isWritten says whether a field has to be in a file: it is required, or
// differs from the default.
func isWritten(f *fault.FaultField, of, standard *fault.Fault) bool {
	switch {
	case !f.BelongsTo(of.Kind):
		return false
	case f.Name == "start":
		return !of.Manual
	}
	return f.Required || f.Get(of) != f.Get(standard)
}

// timeline writes the actions, those settings together that are made together.
func (w *writer) timeline(s *Scenario) {
	actions := s.Timeline
	if len(actions) == 0 {
		return
	}
	w.heading(0, "timeline")
	for len(actions) > 0 {
		n := together(actions)
		first := &actions[0]
		w.item("at", span.Format(int64(first.At)))
		if first.Kind == DoFault {
			w.field(2, "fault", scalarText(first.Fault))
			w.field(2, "do", first.Do.String())
		} else {
			w.heading(2, "set")
			w.changes(s, actions[:n])
		}
		actions = actions[n:]
	}
}

func (w *writer) changes(s *Scenario, actions []Action) {
	for _, a := range actions {
		if k, err := s.Knob(a.Knob); err == nil { // as it is in a scenario that is in order
			w.field(3, a.Knob, scalarText(k.Format(a.Value)))
		}
	}
}

// together is how many actions fit into one entry: settings of one moment, none
// of them twice.
func together(actions []Action) int {
	first := actions[0]
	if first.Kind != SetKnob {
		return 1
	}
	seen := map[string]bool{}
	for n, a := range actions {
		if a.Kind != SetKnob || a.At != first.At || seen[a.Knob] {
			return n
		}
		seen[a.Knob] = true
	}
	return len(actions)
}

func (w *writer) item(key, text string) { fmt.Fprintf(w, "  - %s: %s\n", key, text) }
