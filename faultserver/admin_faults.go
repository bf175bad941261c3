package faultserver

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/gorilla/mux"

	"herdscope/engine/knob"
	"herdscope/engine/wire"
	"herdscope/faultserver/fault"
)

// work has the owner work out an answer, at the present moment.
func (s *Server) work(do func(o *owner) (any, *problem)) (v any, wrong *problem) {
	err := s.owner.ask(func(o *owner) {
		o.step(s.clock.Now(), wire.ServerInput{})
		v, wrong = do(o)
	})
	if err != nil {
		return nil, refusal(err)
	}
	return v, wrong
}

// faultList is all faults, in the order of their precedence.
type faultList struct {
	Faults []object `json:"faults"`
}

func (s *Server) getFaults(*http.Request) (any, *problem) {
	return s.work(func(o *owner) (any, *problem) {
		list := faultList{Faults: []object{}}
		for i := range o.model.Faults() {
			if o.model.HasFault(i) {
				list.Faults = append(list.Faults, o.describe(i))
			}
		}
		return list, nil
	})
}

// describe is a fault with all its fields and what it is doing.
func (o *owner) describe(i int) object {
	return append(describeFault(&o.model.Faults()[i]), pair{"state", o.faultState(i)})
}

// onFault has the owner do something about the fault that the path names.
func (s *Server) onFault(r *http.Request, work func(o *owner, i int) (any, *problem)) (any, *problem) {
	name := mux.Vars(r)["name"]
	return s.work(func(o *owner) (any, *problem) {
		i := slices.IndexFunc(o.model.Faults(), func(f fault.Fault) bool { return f.Name == name })
		if i < 0 || name == "" {
			return nil, unknown("fault", name, o.names()).as(http.StatusNotFound)
		}
		return work(o, i)
	})
}

// names is the names of all faults.
func (o *owner) names() []string {
	names := []string{}
	for i, f := range o.model.Faults() {
		if o.model.HasFault(i) {
			names = append(names, f.Name)
		}
	}
	return names
}

func (s *Server) getFault(r *http.Request) (any, *problem) {
	return s.onFault(r, func(o *owner, i int) (any, *problem) { return o.describe(i), nil })
}

func (s *Server) postFault(r *http.Request) (any, *problem) {
	entries, wrong := readObject(r.Body)
	if wrong != nil {
		return nil, wrong
	}
	f, begins, wrong := newFault(entries)
	if wrong != nil {
		return nil, wrong
	}
	return s.work(func(o *owner) (any, *problem) {
		if slices.Contains(o.names(), f.Name) {
			return nil, taken(f.Name)
		}
		i, err := o.add(f)
		if err != nil {
			return nil, refusal(err)
		}
		if begins {
			o.step(o.model.Now(), wire.ServerInput{
				Kind: wire.ServerFault, Fault: uint8(i), Do: wire.FaultNow,
			})
		}
		location := AdminPath + "faults/" + url.PathEscape(f.Name)
		return created{location, o.describe(i)}, nil
	})
}

func taken(name string) *problem {
	p := trouble(http.StatusConflict, "there is a fault "+knob.Quote(name)+" already")
	p.Field, p.Value, p.Allowed = "name", name, []string{"a name that no other fault has"}
	return p
}

func (s *Server) patchFault(r *http.Request) (any, *problem) {
	entries, wrong := readObject(r.Body)
	if wrong != nil {
		return nil, wrong
	}
	return s.onFault(r, func(o *owner, i int) (any, *problem) {
		f, wrong := changedFault(o.model.Faults()[i], entries)
		if wrong != nil {
			return nil, wrong
		}
		if err := o.change(i, f); err != nil {
			return nil, refusal(err)
		}
		return o.describe(i), nil
	})
}

func (s *Server) deleteFault(r *http.Request) (any, *problem) {
	return s.onFault(r, func(o *owner, i int) (any, *problem) {
		last := o.describe(i)
		o.remove(i)
		return last, nil
	})
}

func (s *Server) doFault(r *http.Request) (any, *problem) {
	do := slices.Index(wire.FaultDoNames(), mux.Vars(r)["do"])
	if do < 0 {
		return nil, unknown("action", mux.Vars(r)["do"], wire.FaultDoNames())
	}
	return s.onFault(r, func(o *owner, i int) (any, *problem) {
		o.move(i, wire.FaultDo(do))
		return o.describe(i), nil
	})
}

func (s *Server) getStats(*http.Request) (any, *problem) {
	stats, err := s.Stats()
	if err != nil {
		return nil, refusal(err)
	}
	return stats, nil
}

// postReset gives faults and knobs the settings that they had at the start, and
// sets all counts to 0. What is under way goes on.
func (s *Server) postReset(*http.Request) (any, *problem) {
	_, wrong := s.work(func(o *owner) (any, *problem) {
		o.restore()
		return nil, nil
	})
	if wrong != nil {
		return nil, wrong
	}
	s.guests.forgetCounts()
	s.refused.Store(0)
	s.panics.Store(0)
	s.gate.failed.Store(0)
	s.gate.held.Store(0)
	return s.getStats(nil)
}

// knobs is the settings of the server as the admin API writes them.
func (o *owner) knobs() object {
	var all object
	c := o.model.Config()
	for i := range fault.Fields {
		k := &fault.Fields[i]
		all = append(all, pair{k.Name, jsonValue(&k.Spec, k.Get(&c))})
	}
	return all
}

func (s *Server) getKnobs(*http.Request) (any, *problem) {
	return s.work(func(o *owner) (any, *problem) { return o.knobs(), nil })
}

// patchKnobs changes knobs, all of those that are named or none.
func (s *Server) patchKnobs(r *http.Request) (any, *problem) {
	entries, wrong := readObject(r.Body)
	if wrong != nil {
		return nil, wrong
	}
	inputs, wrong := knobInputs(entries)
	if wrong != nil {
		return nil, wrong
	}
	return s.work(func(o *owner) (any, *problem) {
		c := o.model.Config()
		for _, in := range inputs {
			fault.Fields[in.Knob].Set(&c, in.Value)
		}
		c.Faults = nil // they have been checked, and one that has gone left a gap
		if err := c.Validate(); err != nil {
			return nil, refusal(err)
		}
		for _, in := range inputs {
			o.set(in)
		}
		return o.knobs(), nil
	})
}
