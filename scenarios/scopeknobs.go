package scenarios

import (
	"slices"
	"strconv"
	"strings"

	"herdscope/engine"
	"herdscope/engine/knob"
	"herdscope/engine/wire"
)

// scoped is the knobs of each scope by its number, with that in their names.
// They are in no list of settings, since people know a scope by its name.
var scoped = func() (of [wire.MaxScopes][]Setting) {
	for _, k := range lift(engine.Fields, OwnerPolicy, 0, policyOf) {
		if scope, _, ok := cutScope(k.Name); ok {
			n, err := strconv.Atoi(scope)
			if err == nil {
				of[n] = append(of[n], k)
			}
		}
	}
	return of
}()

func policyOf(s *Scenario) *engine.Policy { return &s.Fleet.Policy }

// isScoped says whether a knob belongs to one scope.
func isScoped(k Setting) bool { return strings.HasPrefix(k.Name, engine.ScopePrefix) }

// cutScope splits the name of a scope's knob, as in scopes.exports.limit.
func cutScope(name string) (scope, field string, ok bool) {
	rest, ok := strings.CutPrefix(name, engine.ScopePrefix)
	if !ok {
		return "", "", false
	}
	scope, field, _ = strings.Cut(rest, ".")
	return scope, field, true
}

// ScopeSettings lists the knobs that the scopes of the scenario have, such as
// scopes.exports.limit.
func (s Scenario) ScopeSettings() []Setting {
	var list []Setting
	for i, name := range s.Scopes[:min(len(s.Scopes), len(scoped))] {
		for _, k := range scoped[i] {
			_, field, _ := cutScope(k.Name)
			k.Name = engine.ScopePrefix + name + "." + field
			list = append(list, k)
		}
	}
	return list
}

// plainKnob finds a knob of this scenario, those of its faults aside.
func (s Scenario) plainKnob(name string) (Setting, error) {
	if strings.HasPrefix(name, engine.ScopePrefix) {
		return s.scopeKnob(name)
	}
	return KnobNamed(name)
}

// scopeKnob finds a knob of a scope by the scope's name. The error lists those
// that there are and suggests the nearest one.
func (s Scenario) scopeKnob(name string) (Setting, error) {
	var names []string
	for _, k := range s.ScopeSettings() {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
	}
	return Setting{}, &Error{Field: shorten(name), Msg: unknown("there is no such knob", name, names)}
}

// scopeSpec describes a scope's knob whatever the scope; false if it is none.
func scopeSpec(name string) (knob.Spec, bool) {
	_, field, ok := cutScope(name)
	for _, k := range scoped[0] {
		if ok && strings.HasSuffix(k.Name, "."+field) {
			k.Name = name
			return k.Spec, true
		}
	}
	return knob.Spec{}, false
}

// inScope puts the name of a scope where an error of the engine has its number.
func (s *Scenario) inScope(field string) string {
	number, rest, ok := cutScope(field)
	n, err := strconv.Atoi(number)
	if !ok || err != nil || n >= len(s.Scopes) {
		return field
	}
	return engine.ScopePrefix + s.Scopes[n] + "." + rest
}

// scopes reads what scopes have of their own, once it is known which there are.
func (d *decoder) scopes(p *pair) *Error {
	if p == nil {
		return nil
	}
	pairs, err := p.value.mapping(p.key)
	if err != nil {
		return err
	}
	for i := range pairs {
		if err := d.scope(&pairs[i]); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) scope(p *pair) *Error {
	parent := engine.ScopePrefix + p.key
	d.where[parent] = p.position
	if !slices.Contains(d.s.Scopes, p.key) {
		return p.unknownField("scopes", d.s.Scopes)
	}
	pairs, err := p.value.mapping(parent)
	if err != nil {
		return err
	}
	for i := range pairs {
		field := join(parent, pairs[i].key)
		d.where[field] = pairs[i].position
		k, failed := d.s.scopeKnob(field)
		if failed != nil {
			return pairs[i].unknownField(parent, scopeFields())
		}
		v, err := pairs[i].value.parse(k.Spec, field)
		if err != nil {
			return err
		}
		k.set(&d.s, v)
	}
	return nil
}

// scopeFields lists the fields of a scope in a file.
func scopeFields() []string {
	var fields []string
	for _, k := range scoped[0] {
		_, field, _ := cutScope(k.Name)
		fields = append(fields, field)
	}
	return fields
}

// scopes writes what scopes have of their own.
func (w *writer) scopes(s *Scenario) {
	standard := Default()
	var above []string
	for _, k := range s.ScopeSettings() {
		if k.get(s) != k.get(&standard) {
			path := strings.Split(k.Name, ".")
			above = w.headings(above, path)
			w.field(len(above), path[len(above)], scalarText(k.Format(k.get(s))))
		}
	}
}
