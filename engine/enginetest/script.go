package enginetest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"herdscope/engine"
	"herdscope/engine/clock"
	"herdscope/engine/knob"
	"herdscope/engine/wire"
)

// Script plays commands to one Machine, client 7 with two scopes, and prints
// its effects, a line each. A command is one line:
//
//	policy KNOB=VALUE ...            change settings
//	TIME submit N CLASS [METHOD] [timeout=D] [scope=S]
//	                                 [retry=never|allowed] [group=G] [key=K] [refresh]
//	         [same=N] [parent=N] [children=N]
//	TIME refreshed good|bad          the end of a refresh that is no request
//	TIME reply N#TRY STATUS [after=D]   a response, with a Retry-After that names D from now
//	TIME reply N#TRY STATUS date=D lead=D   the same as a date, from a server that far ahead
//	TIME reply N#TRY STATUS pushback=D|stop   one with gRPC's pushback
//	TIME reset N#TRY                 a connection reset before the reply was whole
//	TIME commit N#TRY                the attempt cannot be repeated any more
//	TIME class N CLASS               the request has that class from now on
//	TIME cancel N
//	TIME cancel-group G
//	TIME run                         tick at every deadline up to TIME
//
// TIME is the run clock, such as 1.5s. Every event also passes a Checker.
type Script struct {
	policy  engine.Policy
	machine engine.Machine
	checker *Checker
	now     clock.Instant
}

// NewScript makes a machine with the policy and the seed.
func NewScript(policy engine.Policy, seed uint64) *Script {
	s := &Script{policy: policy}
	s.machine = engine.New(7, seed, 2, &s.policy)
	s.checker = NewChecker(func() engine.Policy { return s.policy })
	return s
}

// Play does one command and returns what the machine did, a line each.
func (s *Script) Play(command string) (string, error) {
	words := strings.Fields(command)
	if len(words) < 2 {
		return "", fmt.Errorf("script: %q: want a time and a command", command)
	}
	if words[0] == "policy" {
		return s.setPolicy(words[1:])
	}
	at, err := time.ParseDuration(words[0])
	if err != nil {
		return "", fmt.Errorf("script: %q: %w", command, err)
	}
	if words[1] == "run" {
		return s.run(clock.Instant(at)), s.checker.Err()
	}
	in, err := s.input(clock.Instant(at), words[1], words[2:])
	if err != nil {
		return "", fmt.Errorf("script: %q: %w", command, err)
	}
	return s.step(clock.Instant(at), in), s.checker.Err()
}

func (s *Script) setPolicy(settings []string) (string, error) {
	for _, setting := range settings {
		name, text, _ := strings.Cut(setting, "=")
		i, ok := knob.Index(engine.Fields, name)
		if !ok {
			return "", fmt.Errorf("script: no knob %q", name)
		}
		value, err := engine.Fields[i].Parse(text)
		if err != nil {
			return "", fmt.Errorf("script: %w", err)
		}
		engine.Fields[i].Set(&s.policy, value)
	}
	return s.step(s.now, engine.Input{Kind: engine.Changed}), s.checker.Err()
}

func (s *Script) run(until clock.Instant) string {
	var lines strings.Builder
	for {
		at, ok := s.machine.Deadline()
		if !ok || at > until {
			return lines.String()
		}
		lines.WriteString(s.step(at, engine.Input{Kind: engine.Tick}))
	}
}

func (s *Script) step(at clock.Instant, in engine.Input) string {
	s.now = at
	var lines strings.Builder
	for _, e := range s.machine.Step(at, in, nil) {
		if e.Kind == engine.Report {
			s.checker.Observe(e.Event)
		}
		lines.WriteString(at.Duration().String() + " " + describe(e) + "\n")
	}
	if in.Kind == engine.CancelGroup {
		s.checker.GroupCancelled(7, in.Group)
	}
	return lines.String()
}

func (s *Script) input(at clock.Instant, verb string, words []string) (engine.Input, error) {
	if len(words) == 0 {
		return engine.Input{}, fmt.Errorf("%s what?", verb)
	}
	if verb == "refreshed" {
		return engine.Input{Kind: engine.Refreshed, Good: words[0] == "good"}, nil
	}
	id, err := attempt(words[0])
	if err != nil {
		return engine.Input{}, err
	}
	switch verb {
	case "submit":
		return submission(at, id.Request, words[1:])
	case "reply":
		return answer(at, id, words[1:])
	case "reset":
		reply := wire.Reply{Kind: wire.ReplyReset}
		return engine.Input{Kind: engine.Answered, ID: id, Reply: reply}, nil
	case "commit":
		return engine.Input{Kind: engine.Commit, ID: id}, nil
	case "class":
		class, ok := wire.ParseClass(strings.Join(words[1:], " "))
		if !ok {
			return engine.Input{}, fmt.Errorf("no class %q", words[1:])
		}
		return engine.Input{Kind: engine.SetClass, Request: id.Request, Class: class}, nil
	case "cancel":
		return engine.Input{Kind: engine.Cancel, Request: id.Request}, nil
	case "cancel-group":
		return engine.Input{Kind: engine.CancelGroup, Group: uint32(id.Request)}, nil
	}
	return engine.Input{}, fmt.Errorf("no command %q", verb)
}

// attempt reads N or N#TRY.
func attempt(word string) (wire.AttemptID, error) {
	number, try, _ := strings.Cut(word, "#")
	n, err := strconv.Atoi(number)
	if err != nil {
		return wire.AttemptID{}, err
	}
	id := wire.AttemptID{Client: 7, Request: wire.RequestID(n)}
	if try != "" {
		t, err := strconv.Atoi(try)
		if err != nil {
			return wire.AttemptID{}, err
		}
		id.Try = uint16(t)
	}
	return id, nil
}

func submission(at clock.Instant, id wire.RequestID, words []string) (engine.Input, error) {
	in := engine.Input{Kind: engine.Submit, Request: id, Since: at}
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		switch {
		case name == "timeout":
			d, err := time.ParseDuration(value)
			if err != nil {
				return in, err
			}
			in.Timeout = d
		case name == "group":
			g, err := strconv.ParseUint(value, 10, 32)
			if err != nil {
				return in, err
			}
			in.Group = uint32(g)
		case name == "key":
			in.Key = wire.ParseKey(value)
		case name == "same" || name == "parent" || name == "children":
			n, err := strconv.ParseUint(value, 10, 8)
			if err != nil {
				return in, err
			}
			kinship(&in, name, n)
		case name == "scope":
			in.Scope = value[0] - '0'
		case word == "refresh":
			in.Refresh = true
		case word == "retry=never":
			in.Retry = engine.RetryNever
		case word == "retry=allowed":
			in.Retry = engine.RetryAllowed
		case place(wire.ClassNames(), word) >= 0:
			in.Class = wire.Class(place(wire.ClassNames(), word))
		case place(wire.MethodNames(), word) >= 0:
			in.Method = wire.Method(place(wire.MethodNames(), word))
		default:
			return in, fmt.Errorf("no class, method or option %q", word)
		}
	}
	return in, nil
}

// kinship sets what a request has to do with others.
func kinship(in *engine.Input, name string, n uint64) {
	switch name {
	case "same":
		in.Same = n
	case "parent":
		in.Parent = wire.RequestID(n)
	case "children":
		in.Children = uint8(n)
	}
}

func answer(at clock.Instant, id wire.AttemptID, words []string) (engine.Input, error) {
	status, err := strconv.Atoi(words[0])
	if err != nil {
		return engine.Input{}, err
	}
	in := engine.Input{Kind: engine.Answered, ID: id, Reply: wire.Reply{Status: uint16(status)}}
	if len(words) == 1 {
		return in, nil
	}
	name, value, _ := strings.Cut(words[1], "=")
	in.Reply.Hint.Form = wire.HintSeconds
	if name == "pushback" {
		in.Reply.Hint.Form = wire.HintPushback
	}
	if name == "pushback" && value == "stop" {
		in.Reply.Hint.Form, in.NotBefore = wire.HintPushbackStop, clock.Never
		return in, nil
	}
	d, err := time.ParseDuration(value)
	in.NotBefore = at.Add(d)
	if name == "date" {
		in.Reply.Hint.Form = wire.HintIMFDate
	}
	if len(words) > 2 && err == nil {
		in.Lead, err = time.ParseDuration(strings.TrimPrefix(words[2], "lead="))
	}
	return in, err
}

func place(names []string, name string) int {
	for i, n := range names {
		if n == name {
			return i
		}
	}
	return -1
}

// describe is an effect in words.
func describe(e engine.Effect) string {
	switch e.Kind {
	case engine.Send:
		return fmt.Sprintf("send %d#%d", e.Attempt.ID.Request, e.Attempt.ID.Try)
	case engine.Refresh:
		return fmt.Sprintf("refresh for %d#%d", e.Attempt.ID.Request, e.Attempt.ID.Try)
	case engine.Abort:
		return fmt.Sprintf("abort %d#%d", e.Attempt.ID.Request, e.Attempt.ID.Try)
	}
	return "  " + describeEvent(e.Event)
}

func describeEvent(e wire.Event) string {
	name := fmt.Sprintf("%v %d", e.Kind, e.ID.Request)
	switch e.Kind {
	case wire.RequestBegan:
		if e.Group > 0 {
			name += fmt.Sprintf(" in group %d", e.Group)
		}
		if e.Parent > 0 {
			name += fmt.Sprintf(" nested in %d", e.Parent)
		}
		return name
	case wire.RequestJoined:
		return fmt.Sprintf("%s the flight of %d", name, e.Leader)
	case wire.NestedDeadlock:
		return fmt.Sprintf("%s holds up %d", name, e.Parent)
	case wire.RequestDequeued:
		if e.Kept {
			return fmt.Sprintf("%s after %v, kept back", name, e.Delay)
		}
		return fmt.Sprintf("%s after %v", name, e.Delay)
	case wire.ClassChanged:
		return describeChange(e)
	case wire.AttemptSent:
		if e.Probe {
			return name + " as a probe"
		}
		return name
	case wire.AttemptEnded:
		return fmt.Sprintf("%s: %s", name, cause(e))
	case wire.RetryScheduled:
		return fmt.Sprintf("%s in %v%s: %s", name, e.Delay, describeWait(e), cause(e))
	case wire.RetryRefused:
		if e.Hint == wire.HintPushedBack {
			return fmt.Sprintf("%s by pushback: %s", name, cause(e))
		}
		return fmt.Sprintf("%s of %v: %s", name, e.Delay, cause(e))
	case wire.RequestDone:
		if e.Cause == wire.CauseChild || e.Cause == wire.CauseNestedDeadlock {
			return fmt.Sprintf("%s: %v for %v after %v", name, e.Outcome, e.Cause, e.Delay)
		}
		return fmt.Sprintf("%s: %v after %v", name, e.Outcome, e.Delay)
	case wire.SocketDequeued:
		if e.Cause != wire.CauseNone {
			return fmt.Sprintf("%s after %v: %s", name, e.Delay, cause(e))
		}
		return fmt.Sprintf("%s after %v", name, e.Delay)
	case wire.ScopePaused:
		return fmt.Sprintf("scope %d paused, %d in flight", e.Scope, e.Limit)
	case wire.ScopeResumed:
		return fmt.Sprintf("scope %d resumed after %v", e.Scope, e.Delay)
	case wire.LimitChanged:
		return fmt.Sprintf("limit %d: %d", e.Scope, e.Limit)
	case wire.BreakerChanged:
		return fmt.Sprintf("breaker %d: %v to %v, %v", e.Scope, e.From, e.To, e.Cause)
	case wire.ProbeDone:
		return fmt.Sprintf("%s: good=%v", name, e.Good)
	case wire.StarvationBegan, wire.StarvationEnded:
		return fmt.Sprintf("%v: %v, %v", e.Kind, e.Class, e.Delay)
	}
	return name
}

func describeChange(e wire.Event) string {
	whose := ""
	if e.Shared {
		whose = "the flight of "
	}
	return fmt.Sprintf("%v %s%d: %v to %v%s", e.Kind, whose, e.ID.Request, e.Was, e.Class,
		describePromotion(e))
}

func describePromotion(e wire.Event) string {
	if e.Cause == wire.CauseElapsed {
		return ", after its wait"
	}
	return ""
}

// describeWait is where the wait before a retry comes from.
func describeWait(e wire.Event) string {
	switch e.Hint {
	case wire.HintFollowed:
		return " as asked"
	case wire.HintClamped:
		return ", the most"
	case wire.HintPushedBack:
		return " by pushback"
	case wire.HintAssumed:
		return " by default"
	case wire.HintIgnored:
		return fmt.Sprintf(" of %v, and not as asked", e.Ceiling)
	}
	return fmt.Sprintf(" of %v", e.Ceiling)
}

func cause(e wire.Event) string {
	if e.Cause == wire.CauseStatus {
		return strconv.Itoa(int(e.Status))
	}
	return e.Cause.String()
}
