package scenarios

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"herdscope/engine/fleet"
	"herdscope/engine/knob"
	"herdscope/engine/wire"
)

// version is the version of the file format.
const version = "1"

// sections are the fields of a file, in the order in which it is written. The
// sections from fleet to network hold knobs.
var sections = []string{
	"version", "name", "title", "story", "seed", "duration", "drain",
	"fleet", "arrival", "classes", "retry", "breaker", "queue", "scopes", "fallback", "auth",
	"transport", "budget", "limiter", "dedup",
	"server", "services", "routes", "network",
	"faults", "timeline",
}

// Parse reads a scenario from the text of a file; name is what errors call the
// file. Title and story lose the spaces at their ends. The error is an *Error.
func Parse(name string, data []byte) (Scenario, error) {
	s, err := parse(data)
	if err != nil {
		err.File = name
		return Scenario{}, err
	}
	return s, nil
}

func parse(data []byte) (Scenario, *Error) {
	text, err := cleanText(data)
	if err != nil {
		return Scenario{}, err
	}
	root, err := parseTree(text)
	if err != nil {
		return Scenario{}, err
	}
	d := decoder{s: Default(), where: map[string]position{}}
	if err := d.document(root); err != nil {
		return Scenario{}, err
	}
	if err, action := d.s.check(); err != nil {
		return Scenario{}, d.locate(err, action)
	}
	return d.s, nil
}

// decoder fills a scenario from a tree, and remembers where what stands.
type decoder struct {
	s       Scenario
	where   map[string]position
	places  [wire.NumClasses]place
	beyond  servicePlaces
	actions []placedAction
}

// place is where the requests of a class go, as far as the file says.
type place struct{ path, scope string }

func (d *decoder) document(root *node) *Error {
	if root.shape != mapping {
		return root.fail("", "a scenario is made of fields, such as name: my-test; this is "+
			root.shape.String())
	}
	d.s.Name = ""
	if err := d.versionOf(root); err != nil {
		return err
	}
	if err := d.preset(root); err != nil {
		return err
	}
	for i := range root.pairs {
		if p := &root.pairs[i]; p.key != "timeline" {
			if err := d.top(p); err != nil {
				return err
			}
		}
	}
	if d.s.Name == "" {
		return root.get("version").fail("name",
			"is missing; write name: followed by lower case words with hyphens")
	}
	d.settle()
	if err := d.scopes(root.get("scopes")); err != nil {
		return err
	}
	return d.timeline(root.get("timeline"))
}

// versionOf reads the version before anything else, since it says how to read
// the rest.
func (d *decoder) versionOf(root *node) *Error {
	p := root.get("version")
	if p == nil {
		return d.missingVersion(root)
	}
	text, err := p.value.scalar("version")
	if err != nil {
		return err
	}
	if text != version {
		return p.value.fail("version",
			knob.Quote(text)+" is not a version that this program reads; allowed: "+version)
	}
	return nil
}

// preset applies a preset before everything else, since the rest of the file
// says what is different from it.
func (d *decoder) preset(root *node) *Error {
	retry := root.get("retry")
	if retry == nil || retry.value.shape != mapping {
		return nil
	}
	if p := retry.value.get("preset"); p != nil {
		return d.knob(p.value, fleet.PresetKnob, fleet.PresetKnob)
	}
	return nil
}

// missingVersion prefers to complain of a misspelt field, which the version may
// be.
func (d *decoder) missingVersion(root *node) *Error {
	for i := range root.pairs {
		if p := &root.pairs[i]; !slices.Contains(sections, p.key) {
			return p.unknownField("", sections)
		}
	}
	return root.fail("version", "is missing; write version: "+version)
}

func (d *decoder) top(p *pair) *Error {
	d.where[p.key] = p.position
	switch p.key {
	case "version", "scopes":
		return nil
	case "name", "title", "story":
		return d.text(p)
	case "seed":
		return d.seed(p)
	case "duration":
		return readTime(p, DurationSpec, &d.s.Duration)
	case "drain":
		return readTime(p, DrainSpec, &d.s.Drain)
	case "classes":
		return d.classes(p)
	case "faults":
		return d.faults(p)
	case "services":
		return d.services(p)
	case "routes":
		return d.routeTimes(p)
	}
	if len(fieldsBelow(p.key)) > 0 {
		return d.section(p, p.key)
	}
	return p.unknownField("", sections)
}

func (d *decoder) text(p *pair) *Error {
	text, err := p.value.scalar(p.key)
	if err != nil {
		return err
	}
	text = strings.TrimSpace(text)
	switch p.key {
	case "title":
		d.s.Title = text
	case "story":
		d.s.Story = text
	case "name":
		if !isName(text) {
			return p.value.fail("name", badName(text))
		}
		d.s.Name = text
	}
	return nil
}

func (d *decoder) seed(p *pair) *Error {
	text, err := p.value.scalar("seed")
	if err != nil {
		return err
	}
	seed, failed := strconv.ParseUint(text, 10, 64)
	if failed != nil {
		return p.value.fail("seed", knob.Quote(text)+" is not a seed; allowed: 0 to 18446744073709551615")
	}
	d.s.Seed = seed
	return nil
}

func readTime(p *pair, spec knob.Spec, to *time.Duration) *Error {
	v, err := p.value.parse(spec, spec.Name)
	*to = time.Duration(v)
	return err
}

// section reads a mapping of knobs, which may nest: field is its dotted path.
func (d *decoder) section(p *pair, field string) *Error {
	pairs, err := p.value.mapping(field)
	if err != nil {
		return err
	}
	for i := range pairs {
		if err := d.entry(&pairs[i], field); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) entry(p *pair, parent string) *Error {
	field := join(parent, p.key)
	d.where[field] = p.position
	if field == fleet.PresetKnob {
		return nil // applied already
	}
	if name, ok := knobAt[field]; ok {
		return d.knob(p.value, field, name)
	}
	if below := fieldsBelow(field); len(below) > 0 {
		return d.section(p, field)
	}
	if field == ownQuantiles {
		return p.value.quantiles(field, &d.s.Server.Service)
	}
	return p.unknownField(parent, fieldsBelow(parent))
}

func (d *decoder) knob(n *node, field, name string) *Error {
	k := &settings[settingOf[name]]
	v, err := n.parse(k.Spec, field)
	if err == nil {
		k.set(&d.s, v)
	}
	return err
}

// knobAt is the knobs by the field of a file where they stand.
var knobAt = func() map[string]string {
	at := make(map[string]string, len(settings))
	for i := range settings {
		at[fieldOf(settings[i].Name)] = settings[i].Name
	}
	return at
}()

// fieldsBelow lists the fields that a section has, in the order of the knobs.
func fieldsBelow(section string) []string {
	var fields []string
	for i := range settings {
		rest, ok := strings.CutPrefix(fieldOf(settings[i].Name), section+".")
		first, _, _ := strings.Cut(rest, ".")
		if ok && !slices.Contains(fields, first) {
			fields = append(fields, first)
		}
	}
	if section == ownService {
		fields = append(fields, quantilesField)
	}
	return fields
}

// locate gives an error of the whole its place: that of the action, or of the
// field or the nearest one around it.
func (d *decoder) locate(e *Error, action int) *Error {
	if action >= 0 {
		a := d.actions[action]
		if a.Kind == SetKnob && e.Field != a.Knob && e.Field != fieldOf(a.Knob) {
			e.Msg = "then " + e.Field + ": " + e.Msg // the knob that it disagrees with
		}
		e.Line, e.Column, e.Field = a.line, a.column, a.field
		return e
	}
	for field := e.Field; field != ""; field = parentOf(field) {
		if at, ok := d.where[field]; ok {
			e.Line, e.Column = at.line, at.column
			return e
		}
	}
	return e
}

func parentOf(field string) string {
	return field[:max(0, strings.LastIndexAny(field, ".["))]
}

func (p *pair) unknownField(parent string, known []string) *Error {
	return p.fail(join(parent, p.key), unknown("there is no such field", p.key, known))
}

// scalar is the node's text; an error if it is no single value.
func (n *node) scalar(field string) (string, *Error) {
	switch n.shape {
	case scalar:
		return n.text, nil
	case nothing:
		return "", n.fail(field, "has no value")
	}
	return "", n.fail(field, "must be a single value; this is "+n.shape.String())
}

// parse is the node's value as a knob reads it.
func (n *node) parse(spec knob.Spec, field string) (int64, *Error) {
	if n.shape != scalar {
		_, err := n.scalar(field)
		err.Msg += "; allowed: " + spec.Allowed()
		return 0, err
	}
	v, err := spec.Parse(n.text)
	if err != nil {
		e := fieldError(field, err)
		e.Line, e.Column = n.line, n.column
		return 0, e
	}
	return v, nil
}

func (n *node) mapping(field string) ([]pair, *Error) {
	switch n.shape {
	case mapping:
		return n.pairs, nil
	case nothing:
		return nil, n.fail(field, "has no fields")
	}
	return nil, n.fail(field, "must have fields of its own; this is "+n.shape.String())
}

func (n *node) list(field string) ([]*node, *Error) {
	if n.shape != list {
		return nil, n.fail(field, "must be a list, each entry after a hyphen; this is "+n.shape.String())
	}
	return n.items, nil
}
