package faultserver

import (
	"herdscope/engine/clock"
	"herdscope/engine/wire"
	"herdscope/faultserver/fault"
)

// Edit is something that was done to the server's settings through the admin
// API.
type Edit struct {
	// At is when.
	At clock.Instant
	// Fault is the index of the fault that was added, changed, moved or removed;
	// -1 if it was a knob.
	Fault int
	// Plan is what the fault is now; it has no name if it was removed.
	Plan fault.Fault
	// New says that the fault was not there before.
	New bool
	// Moved says that a hand did Do to the fault, whose settings are as before.
	Moved bool
	Do    wire.FaultDo
	// Knob is the index of the knob that was given Value.
	Knob  uint16
	Value int64
}

// add gives the model one more fault.
func (o *owner) add(f fault.Fault) (int, error) {
	i, effects, err := o.model.AddFault(o.clock.Now(), f, o.effects[:0])
	if err != nil {
		return i, err
	}
	o.edited(Edit{Fault: i, Plan: f, New: true})
	o.carryOut(effects)
	return i, nil
}

func (o *owner) change(i int, f fault.Fault) error {
	effects, err := o.model.ChangeFault(o.clock.Now(), i, f, o.effects[:0])
	if err != nil {
		return err
	}
	o.edited(Edit{Fault: i, Plan: f})
	o.carryOut(effects)
	return nil
}

// remove takes a fault away. Its end is reported while it still has its name.
func (o *owner) remove(i int) {
	o.carryOut(o.model.RemoveFault(o.clock.Now(), i, o.effects[:0]))
	o.edited(Edit{Fault: i})
}

// move does to a fault what a hand says.
func (o *owner) move(i int, do wire.FaultDo) {
	o.edited(Edit{Fault: i, Plan: o.model.Faults()[i], Moved: true, Do: do})
	o.step(o.clock.Now(), wire.ServerInput{Kind: wire.ServerFault, Fault: uint8(i), Do: do})
}

// set gives a knob a value.
func (o *owner) set(in wire.ServerInput) {
	o.edited(Edit{Fault: -1, Knob: in.Knob, Value: in.Value})
	o.step(o.clock.Now(), in)
}

// restore gives all settings what they had at the start, and forgets all counts.
func (o *owner) restore() {
	for i, f := range o.model.Faults() {
		original := i < len(o.start.Faults) && o.start.Faults[i].Name == f.Name &&
			o.start.Faults[i].Kind == f.Kind
		if o.model.HasFault(i) && !original {
			o.remove(i)
		}
	}
	for i, f := range o.start.Faults {
		o.restoreFault(i, f)
	}
	now := o.model.Config()
	for i := range fault.Fields {
		if v := fault.Fields[i].Get(&o.start); v != fault.Fields[i].Get(&now) {
			o.set(wire.ServerInput{Kind: wire.ServerSet, Knob: uint16(i), Value: v})
		}
	}
	o.model.ForgetHits()
	o.model.ForgetEffects()
	o.tally = tally{}
}

// restoreFault gives the fault with index i, if it is not as at the start, what it
// had then. The errors are none: it was in order at the start, and the places
// before it are taken.
func (o *owner) restoreFault(i int, f fault.Fault) {
	if !o.model.HasFault(i) {
		_, _ = o.add(f)
		return
	}
	if o.model.Faults()[i] != f {
		_ = o.change(i, f)
	}
	if on, _ := o.model.FaultState(i); on || o.model.FaultHand(i) != wire.FaultAuto {
		o.move(i, wire.FaultAuto)
	}
}

// edited tells of an edit.
func (o *owner) edited(e Edit) {
	if o.onEdit != nil {
		e.At = o.model.Now()
		o.onEdit(e)
	}
}
