package metrics

import (
	"slices"
	"time"

	"herdscope/engine/clock"
)

const (
	// maxTold is how many marks, and how many notes, are kept.
	maxTold = 256
	// herdTimes and herdLeast are what makes a bin a herd: so many times the
	// mean before it, and so many arrivals.
	herdTimes = 5
	herdLeast = 30
	// openedShare is the share of all breakers that must open in one bin, one in
	// so many, to be told.
	openedShare = 100
	// waveGap and waveLength bound a wave: bins with nothing notable inside it,
	// and its length, in bins.
	waveGap    = 3
	waveLength = 10 * secondBins
)

// story is the marks and notes of a run: the latest maxTold of each, by time.
type story struct {
	marks []Mark
	notes []Note

	// before is the arrivals of the last ten seconds by bin number, mean the
	// mean bin before the present wave.
	before [recentBins]int64
	sum    int64
	mean   float64
	// herd and opening are the waves that may go on, in bin numbers.
	herd, opening span
}

// span is the first and the last bin of a wave so far.
type span struct{ first, last int64 }

func newStory() story {
	long := int64(-2 * waveLength)
	return story{
		marks:   make([]Mark, 0, maxTold),
		notes:   make([]Note, 0, maxTold),
		herd:    span{long, long},
		opening: span{long, long},
	}
}

// extend adds a bin to the wave; false if it begins a new one.
func (s *span) extend(number int64) bool {
	if number-s.last > waveGap+1 || number-s.first >= waveLength {
		s.first, s.last = number, number
		return false
	}
	s.last = number
	return true
}

// mark keeps a mark. Of a full list the oldest change goes first: many of them
// must not take a fault off the time axis.
func (s *story) mark(m Mark) {
	if len(s.marks) == maxTold {
		change := func(m Mark) bool { return m.Kind == MarkChange }
		if i := slices.IndexFunc(s.marks, change); i >= 0 {
			s.marks = slices.Delete(s.marks, i, i+1)
		}
	}
	s.marks = keep(s.marks, m, func(m *Mark) clock.Instant { return m.At })
}

func (s *story) note(n Note) {
	s.notes = keep(s.notes, n, func(n *Note) clock.Instant { return n.At })
}

// keep inserts a value by its time, after those of the same time. If the list is
// full, its oldest goes.
func keep[T any](list []T, value T, at func(*T) clock.Instant) []T {
	if len(list) == maxTold {
		copy(list, list[1:])
		list = list[:maxTold-1]
	}
	list = append(list, value)
	for i := len(list) - 1; i > 0 && at(&list[i-1]) > at(&list[i]); i-- {
		list[i-1], list[i] = list[i], list[i-1]
	}
	return list
}

// endMark ends the window of a fault that began at a moment.
func (s *story) endMark(fault string, began, at clock.Instant) {
	for i := len(s.marks) - 1; i >= 0; i-- {
		if m := &s.marks[i]; m.Kind == MarkFault && m.At == began && m.Text == fault {
			m.Until = at
			return
		}
	}
}

// arrivals looks at the next bin for a herd.
func (s *story) arrivals(b Bin) {
	number, n := b.Start.Bin(binWidth), b.Arrivals()
	s.lookForHerd(b.Start, number, n)
	was := &s.before[number%recentBins]
	s.sum += n - *was
	*was = n
}

func (s *story) lookForHerd(at clock.Instant, number, n int64) {
	past := min(number, recentBins)
	if past < secondBins || n < herdLeast {
		return
	}
	mean := float64(s.sum) / float64(past)
	if float64(n) < herdTimes*mean {
		return
	}
	goesOn := s.herd.extend(number)
	if !goesOn {
		s.mean = mean
	}
	news := Note{Kind: NoteHerd, At: at, N: n}
	if s.mean > 0 {
		news.Times = float64(n) / s.mean
	}
	if goesOn {
		old, ok := s.last(NoteHerd)
		if ok && s.notes[old].N >= n {
			return
		}
		if ok {
			s.notes = append(s.notes[:old], s.notes[old+1:]...)
		}
	}
	s.note(news)
}

// opened looks at how many breakers, of so many, opened in the next bin.
func (s *story) opened(at clock.Instant, n int32, total int64) {
	if n == 0 || int64(n)*openedShare < total {
		return
	}
	goesOn := s.opening.extend(at.Bin(binWidth))
	if old, ok := s.last(NoteBreakersOpened); goesOn && ok {
		s.notes[old].N += int64(n)
		s.notes[old].Delay = at.Add(binWidth).Sub(s.notes[old].At)
		return
	}
	s.note(Note{Kind: NoteBreakersOpened, At: at, N: int64(n), Delay: time.Duration(binWidth)})
}

// last is the index of the latest note of a kind; false if there is none.
func (s *story) last(k NoteKind) (int, bool) {
	for i := len(s.notes) - 1; i >= 0; i-- {
		if s.notes[i].Kind == k {
			return i, true
		}
	}
	return 0, false
}
