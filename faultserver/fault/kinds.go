package fault

import (
	"time"

	"herdscope/engine/wire"
)

// Stage is where on an attempt's way a kind of fault acts.
type Stage uint8

// The stages. An attempt meets them in this order, within each the faults in the
// order of the configuration.
const (
	// AtConnection acts before anything is known of the attempt.
	AtConnection Stage = iota
	// AtArrival settles the attempt instead of the server: the first wins.
	AtArrival
	// AtLimit changes who is let in: the first that is on and meant for it is in
	// force.
	AtLimit
	// AtWork changes how the attempt is worked on: all that are on act together.
	AtWork
	// AtReply changes how the reply is written: the first that hits wins.
	AtReply
)

// kindRow is what there is to know of a kind. A new kind is a row here, a value
// in config.go, and a file with what the row refers to.
type kindRow struct {
	name  string
	stage Stage
	// picks says that the fault hits attempts one by one, so that it has a Count,
	// a Share and a Unit; matches that it has a Match.
	picks   bool
	matches bool
	// idle says that the fault is about connections without an attempt.
	idle bool
	// fresh gives a new fault the defaults of what belongs to it alone.
	fresh func(*Fault)
	// turned does what the beginning of a window brings with it, or its end.
	turned func(s *Server, i int, on bool, out []wire.ServerEffect) []wire.ServerEffect
	// form is the reply to a served attempt that the fault has hit.
	form func(f *Fault) wire.Reply
	// check says what is wrong with fields that do not agree, at the given path.
	check func(f *Fault, at string) error
}

var kinds = [NumKinds]kindRow{
	Outage: {name: "outage", stage: AtConnection, matches: true,
		turned: (*Server).turnOutage, check: (*Fault).checkOutage},
	Errors: {name: "errors", stage: AtArrival, picks: true, matches: true,
		fresh: func(f *Fault) { f.Status = 503 }},
	Latency: {name: "latency", stage: AtWork, picks: true, matches: true,
		check: (*Fault).checkLatency},
	Quota: {name: "quota", stage: AtLimit, matches: true, turned: (*Server).turnQuota,
		fresh: func(f *Fault) { f.Limit = RateLimit{Burst: 1, Window: time.Second, Form: wire.HintSeconds} }},
	CapacityCut: {name: "capacity", stage: AtWork,
		fresh: func(f *Fault) { f.Left = 500 }},
	Close: {name: "close", stage: AtReply, picks: true, matches: true,
		fresh: func(f *Fault) { f.Point = PointReply }, form: (*Fault).ended},
	Reset: {name: "reset", stage: AtReply, picks: true, matches: true,
		fresh: func(f *Fault) { f.Point = PointReply }, form: (*Fault).ended},
	Truncated: {name: "truncated", stage: AtReply, picks: true, matches: true,
		form: broken(wire.FormCutBody)},
	Garbage: {name: "garbage", stage: AtReply, picks: true, matches: true,
		form: whole(wire.FormGarbage)},
	BadChunk: {name: "bad-chunk", stage: AtReply, picks: true, matches: true,
		form: broken(wire.FormBadChunk)},
	Drip: {name: "drip", stage: AtReply, picks: true, matches: true,
		fresh: func(f *Fault) { f.Over = time.Second }, form: whole(wire.FormDrip)},
	SlowHeader: {name: "slow-header", stage: AtReply, picks: true, matches: true,
		fresh: func(f *Fault) { f.Over = time.Second }, form: whole(wire.FormSlowHeader)},
	IdleClose: {name: "idle-close", stage: AtConnection, idle: true,
		fresh: func(f *Fault) { f.Race = time.Millisecond }},
}

// Always is the Share that hits all.
const Always = 1_000_000

// NewFault is a fault of a kind with the defaults of what belongs to it.
func NewFault(k Kind) Fault {
	f := Fault{Kind: k}
	row := &kinds[k]
	if row.picks {
		f.Share = Always
	}
	if row.fresh != nil {
		row.fresh(&f)
	}
	return f
}

// row is what there is to know of the fault's kind.
func (f *Fault) row() *kindRow { return &kinds[f.Kind] }

// Stage is where the kind acts.
func (k Kind) Stage() Stage { return kinds[k].stage }

// kindsThat lists the kinds for which the predicate holds.
func kindsThat(holds func(*kindRow) bool) (list []Kind) {
	for k := range kinds {
		if holds(&kinds[k]) {
			list = append(list, Kind(k))
		}
	}
	return list
}
