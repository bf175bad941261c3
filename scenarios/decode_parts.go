package scenarios

import (
	"slices"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/knob"
	"herdscope/engine/wire"
	"herdscope/faultserver/fault"
)

// classes reads what the requests of each class are like. Once a file names its
// classes, those that it does not name have no requests.
func (d *decoder) classes(p *pair) *Error {
	pairs, err := p.value.mapping("classes")
	if err != nil {
		return err
	}
	for i := range d.s.Fleet.Mix {
		d.s.Fleet.Mix[i].Weight = 0
	}
	for i := range pairs {
		if err := d.class(&pairs[i]); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) class(p *pair) *Error {
	class := slices.Index(wire.ClassNames(), p.key)
	if class < 0 {
		return p.unknownField("classes", wire.ClassNames())
	}
	field := "classes." + p.key
	d.where[field] = p.position
	d.s.Fleet.Mix[class].Weight = 1
	if p.value.shape == nothing {
		return nil
	}
	pairs, err := p.value.mapping(field)
	if err != nil {
		return err
	}
	for i := range pairs {
		if err := d.classField(&pairs[i], class, field); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) classField(p *pair, class int, parent string) (err *Error) {
	field := join(parent, p.key)
	d.where[field] = p.position
	if name, ok := knobAt[field]; ok {
		return d.knob(p.value, field, name)
	}
	to, bad := &d.places[class].path, badPath
	switch p.key {
	case "path":
	case "scope":
		to, bad = &d.places[class].scope, badScope
	case "header":
		to, bad = &d.s.Headers[class], badHeader
	default:
		return p.unknownField(parent, append(fieldsBelow(parent), "path", "scope", "header"))
	}
	if *to, err = p.value.scalar(field); err != nil {
		return err
	}
	if msg := bad(*to); msg != "" {
		return p.value.fail(field, msg)
	}
	return nil
}

func badHeader(text string) string {
	if fault.IsHeader(text) {
		return ""
	}
	return knob.Quote(text) + " is no request field; allowed: NAME: VALUE"
}

func badScope(text string) string {
	if isName(text) {
		return ""
	}
	return badName(text)
}

// settle numbers the routes and scopes.
func (d *decoder) settle() {
	var paths, scopes [wire.NumClasses]string
	for i, p := range d.places {
		paths[i], scopes[i] = p.path, p.scope
	}
	var routeOf, scopeOf [wire.NumClasses]uint8
	d.s.Routes, routeOf = number(paths, defaultPath)
	d.s.Scopes, scopeOf = number(scopes, defaultScope)
	for i := range d.s.Fleet.Mix {
		d.s.Fleet.Mix[i].Route, d.s.Fleet.Mix[i].Scope = routeOf[i], scopeOf[i]
	}
	d.settleServices()
}

// number gives the names that classes have numbers in the order in which they
// first appear. A class without one shares the first; if none has one, all share
// the fallback. So a class that has no requests adds no scope of its own.
func number(names [wire.NumClasses]string, fallback string) (list []string, of [wire.NumClasses]uint8) {
	for i, name := range names {
		if name == "" {
			continue
		}
		at := slices.Index(list, name)
		if at < 0 {
			at = len(list)
			list = append(list, name)
		}
		of[i] = uint8(at)
	}
	if list == nil {
		list = []string{fallback}
	}
	return list, of
}

func (d *decoder) faults(p *pair) *Error {
	items, err := p.value.list("faults")
	if err != nil {
		return err
	}
	for i, item := range items {
		if err := d.fault(item, itemPath("faults", i)); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) fault(n *node, field string) *Error {
	d.where[field] = n.position
	pairs, err := n.mapping(field)
	if err != nil {
		return err
	}
	kind, err := kindOf(n, field)
	if err != nil {
		return err
	}
	f := fault.NewFault(kind)
	for i := range pairs {
		d.where[join(field, pairs[i].key)] = pairs[i].position
		if err := faultEntry(&pairs[i], &f, field); err != nil {
			return err
		}
	}
	if missing, allowed := missingField(n, &f); missing != "" {
		return n.fail(join(field, missing),
			"is missing from a fault of the kind "+kind.String()+"; allowed: "+allowed)
	}
	d.s.Server.Faults = append(d.s.Server.Faults, f)
	return nil
}

// kindOf reads the kind of a fault before its other fields, since it says which
// they may be.
func kindOf(n *node, field string) (fault.Kind, *Error) {
	p := n.get("kind")
	spec := knob.Spec{Name: "kind", Kind: knob.Choice, Choices: fault.KindNames()}
	if p == nil {
		return 0, n.fail(field+".kind", "is missing; allowed: "+spec.Allowed())
	}
	v, err := p.value.parse(spec, field+".kind")
	return fault.Kind(v), err
}

func faultEntry(p *pair, f *fault.Fault, parent string) *Error {
	field := join(parent, p.key)
	switch p.key {
	case "kind":
		return nil
	case "name":
		name, err := p.value.scalar(field)
		f.Name = name
		return err
	}
	for i := range fault.FaultFields {
		known := &fault.FaultFields[i]
		if known.Name != p.key {
			continue
		}
		if !known.BelongsTo(f.Kind) {
			return p.fail(field, misplaced(p.key, f.Kind))
		}
		v, err := p.value.parse(known.Spec, field)
		if err == nil {
			known.Set(f, v)
		}
		return err
	}
	return faultText(p, f, parent)
}

// faultText reads a field of a fault that is text.
func faultText(p *pair, f *fault.Fault, parent string) *Error {
	field := join(parent, p.key)
	known := fault.TextFieldNamed(p.key)
	switch {
	case known == nil:
		return p.unknownField(parent, fault.FieldNames(f.Kind))
	case !known.BelongsTo(f.Kind):
		return p.fail(field, misplaced(p.key, f.Kind))
	}
	text, err := p.value.scalar(field)
	if err != nil {
		return err
	}
	if err := known.Set(f, text); err != nil {
		return p.value.fail(field, fieldError("", err).Msg)
	}
	return nil
}

// missingField is the first field that a fault must have and does not, and what
// it may be. A fault that is not left to the hand must say when it starts.
func missingField(n *node, f *fault.Fault) (name, allowed string) {
	if n.get("name") == nil {
		return "name", "lower case words with hyphens"
	}
	for i := range fault.FaultFields {
		known := &fault.FaultFields[i]
		required := known.Required || known.Name == "start" && !f.Manual
		if required && known.BelongsTo(f.Kind) && n.get(known.Name) == nil {
			return known.Name, known.Allowed()
		}
	}
	return "", ""
}

// placedAction is an action and where it stands in the file.
type placedAction struct {
	Action
	position
	field string
}

func (d *decoder) timeline(p *pair) *Error {
	if p == nil {
		return nil
	}
	items, err := p.value.list("timeline")
	if err != nil {
		return err
	}
	for i, item := range items {
		if err := d.moment(item, itemPath("timeline", i)); err != nil {
			return err
		}
	}
	slices.SortStableFunc(d.actions, func(a, b placedAction) int {
		return int(min(max(a.At-b.At, -1), 1))
	})
	for _, a := range d.actions {
		d.s.Timeline = append(d.s.Timeline, a.Action)
	}
	return nil
}

// moment reads one entry of the timeline: settings to make, or a thing to do to
// a fault.
func (d *decoder) moment(n *node, field string) *Error {
	pairs, err := n.mapping(field)
	if err != nil {
		return err
	}
	for i := range pairs {
		if fields := []string{"at", "set", "fault", "do"}; !slices.Contains(fields, pairs[i].key) {
			return pairs[i].unknownField(field, fields)
		}
	}
	at, err := momentOf(n, field)
	if err != nil {
		return err
	}
	set, doing := n.get("set"), n.get("fault")
	switch {
	case set != nil && doing == nil && n.get("do") == nil:
		return d.changes(set, at, field+".set")
	case set == nil && doing != nil:
		return d.handle(n, at, field)
	}
	return n.fail(field, "must have either set, or fault and do")
}

func momentOf(n *node, field string) (clock.Instant, *Error) {
	p := n.get("at")
	if p == nil {
		return 0, n.fail(field+".at", "is missing; allowed: "+span.Allowed())
	}
	v, err := p.value.parse(span, field+".at")
	return clock.Instant(time.Duration(v)), err
}

func (d *decoder) changes(set *pair, at clock.Instant, field string) *Error {
	pairs, err := set.value.mapping(field)
	if err != nil {
		return err
	}
	for i := range pairs {
		p := &pairs[i]
		k, failed := d.s.plainKnob(p.key)
		if failed != nil {
			return p.fail(join(field, p.key), toError(failed).Msg)
		}
		v, err := p.value.parse(k.Spec, join(field, p.key))
		if err != nil {
			return err
		}
		d.actions = append(d.actions, placedAction{
			Action{At: at, Kind: SetKnob, Knob: p.key, Value: v}, p.position, join(field, p.key),
		})
	}
	return nil
}

func (d *decoder) handle(n *node, at clock.Instant, field string) *Error {
	p := n.get("fault")
	name, err := p.value.scalar(field + ".fault")
	if err != nil {
		return err
	}
	do, err := doOf(n, field)
	if err != nil {
		return err
	}
	d.actions = append(d.actions, placedAction{
		Action{At: at, Kind: DoFault, Fault: name, Do: do}, p.value.position, field + ".fault",
	})
	return nil
}

func doOf(n *node, field string) (wire.FaultDo, *Error) {
	spec := knob.Spec{Name: "do", Kind: knob.Choice, Choices: wire.FaultDoNames()}
	p := n.get("do")
	if p == nil {
		return 0, n.fail(field+".do", "is missing; allowed: "+spec.Allowed())
	}
	v, err := p.value.parse(spec, field+".do")
	return wire.FaultDo(v), err
}
