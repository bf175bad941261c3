package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"herdscope/engine/metrics"
	"herdscope/engine/wire"
	"herdscope/scenarios/run"
)

// JSON writes the result as one object. Keys, their order and the number of
// decimals are fixed, so that two equal results are equal byte for byte. Times
// are milliseconds or seconds as the key says; shares go from 0 to 1. What
// could not be measured is null. The error is that of w.
func JSON(w io.Writer, r run.Result) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(newDocument(r)); err != nil {
		return fmt.Errorf("write the JSON summary: %w", err)
	}
	return nil
}

// document is the JSON summary; the order of its fields is that of the keys.
type document struct {
	Scenario      string             `json:"scenario"`
	Mode          string             `json:"mode"`
	Seed          uint64             `json:"seed"`
	DurationS     milli              `json:"duration_s"`
	Aborted       bool               `json:"aborted"`
	Clients       int                `json:"clients"`
	Requests      int64              `json:"requests"`
	Attempts      int64              `json:"attempts"`
	Retries       int64              `json:"retries"`
	Missed        int64              `json:"missed"`
	Denied        int64              `json:"retries_denied"`
	Shared        int64              `json:"shared"`
	Deadlocks     int64              `json:"nested_deadlocks"`
	Refreshes     *refreshes         `json:"token_refreshes,omitempty"`
	Amplification *milli             `json:"amplification"`
	GoodputPerS   milli              `json:"goodput_per_s"`
	Outcomes      outcomes           `json:"outcomes"`
	Statuses      map[string]int64   `json:"statuses"`
	LatencyMS     byClass[latencies] `json:"latency_ms"`
	PageMS        pages              `json:"page_ms"`
	Herd          herd               `json:"herd"`
	Breaker       breakers           `json:"breaker"`
	Queue         byClass[waits]     `json:"queue"`
	Socket        sockets            `json:"socket"`
	RetryAfter    returns            `json:"retry_after"`
	RecoveryS     *milli             `json:"recovery_s"`
	RecoveryNote  *string            `json:"recovery_note"`
	Server        server             `json:"server"`
	FaultsMissed  []string           `json:"faults_missed,omitempty"`
	ClassChanges  int64              `json:"class_changes,omitempty"`
}

// refreshes is the requests that got a new token; nil if there were none.
type refreshes struct {
	Count  int64 `json:"count"`
	Failed int64 `json:"failed"`
}

func newRefreshes(r metrics.Refreshes) *refreshes {
	if r == (metrics.Refreshes{}) {
		return nil
	}
	return &refreshes{r.Begun, r.Failed}
}

type outcomes struct {
	Succeeded      int64 `json:"succeeded"`
	Degraded       int64 `json:"degraded"`
	Failed         int64 `json:"failed"`
	TimedOut       int64 `json:"timed_out"`
	ExpiredInQueue int64 `json:"expired_in_queue"`
	Shed           int64 `json:"shed"`
	ShortCircuited int64 `json:"short_circuited"`
	Cancelled      int64 `json:"cancelled"`
	Unfinished     int64 `json:"unfinished"`
}

// byClass is one value for each class, most important first.
type byClass[T any] struct {
	Critical    T `json:"critical"`
	Interactive T `json:"interactive"`
	Background  T `json:"background"`
}

type latencies struct {
	P50   *milli `json:"p50"`
	P90   *milli `json:"p90"`
	P99   *milli `json:"p99"`
	Max   *milli `json:"max"`
	Count int64  `json:"count"`
}

// pages is the times of the pages, and how many failed.
type pages struct {
	latencies
	Failed int64 `json:"failed"`
}

type waits struct {
	P50MS        *milli `json:"wait_p50_ms"`
	P99MS        *milli `json:"wait_p99_ms"`
	MaxMS        *milli `json:"wait_max_ms"`
	OldestMS     milli  `json:"oldest_ms"`
	Starved      int64  `json:"starved"`
	KeptBack     int64  `json:"kept_back"`
	Overtakes    int64  `json:"overtakes"`
	ServiceGapMS milli  `json:"service_gap_ms"`
	WaitEWMAMS   *milli `json:"wait_ewma_ms"`
	Count        int64  `json:"count"`
}

// sockets is the attempts that had to wait for a connection.
type sockets struct {
	P50MS  *milli `json:"wait_p50_ms"`
	P99MS  *milli `json:"wait_p99_ms"`
	MaxMS  *milli `json:"wait_max_ms"`
	Unsent int64  `json:"unsent"`
	Count  int64  `json:"count"`
}

type herd struct {
	BinMS            milli     `json:"bin_ms"`
	PeakToMean       *milli    `json:"peak_to_mean"`
	ChancePeakToMean *milli    `json:"chance_peak_to_mean"`
	Fano             fano      `json:"fano"`
	Synchrony        synchrony `json:"synchrony"`
	HintedWaveShare  *micro    `json:"hinted_wave_share"`
	Hinted           int64     `json:"hinted"`
}

// fano is the dispersion of the arrivals at each bin width, shortest first. It
// writes itself, since its keys are the widths.
type fano []fanoAt

type fanoAt struct {
	width string
	value *milli
}

// MarshalJSON writes an object that keeps the order of the widths.
func (f fano) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, at := range f {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendQuote(out, at.width)
		out = append(out, ':')
		out = appendOptional(out, at.value)
	}
	return append(out, '}'), nil
}

func appendOptional(out []byte, v *milli) []byte {
	if v == nil {
		return append(out, "null"...)
	}
	return appendFixed(out, float64(*v), 3)
}

type synchrony struct {
	PeriodMS *milli `json:"period_ms"`
	R        *micro `json:"r"`
	Floor    *micro `json:"floor"`
}

type breakers struct {
	Opened     int64 `json:"opened"`
	HalfOpened int64 `json:"half_opened"`
	Closed     int64 `json:"closed"`
	OpenShare  micro `json:"open_share"`
}

type returns struct {
	Early  int64 `json:"early"`
	OnTime int64 `json:"on_time"`
	Late   int64 `json:"late"`
	Untold int64 `json:"untold"`
}

type server struct {
	Arrivals  int64  `json:"arrivals"`
	BusyShare *micro `json:"busy_share"`
	Rejected  int64  `json:"rejected"`
	Reset     int64  `json:"reset"`
	// Cancelled is left out where it is 0, as wherever abandoned work goes on.
	Cancelled   int64 `json:"cancelled,omitempty"`
	WastedShare micro `json:"wasted_share"`
	Duplicates  int64 `json:"duplicates"`
	// Repeated is how many requests have duplicates; RepeatedList is the first of
	// them, and RepeatedUnlisted how many are not in it.
	Repeated         int64    `json:"repeated"`
	RepeatedList     []repeat `json:"repeated_list"`
	RepeatedUnlisted int64    `json:"repeated_unlisted"`
	Replayed         int64    `json:"replayed"`
}

func newDocument(r run.Result) document {
	s := &r.Summary
	took, note := recovery(s.Recovery)
	return document{
		Scenario:      r.Scenario.Name,
		Mode:          mode(r.Live),
		Seed:          r.Scenario.Seed,
		DurationS:     milli(s.Duration.Seconds()),
		Aborted:       r.Aborted,
		Clients:       s.Clients,
		Requests:      s.Requests,
		Attempts:      s.Attempts,
		Retries:       s.Retries,
		Missed:        s.Missed,
		Denied:        s.Denied,
		Shared:        s.Joined,
		Deadlocks:     s.Deadlocks,
		ClassChanges:  s.ClassChanges,
		Refreshes:     newRefreshes(s.Refreshes),
		Amplification: only(s.Requests > 0, milli(s.Amplification)),
		GoodputPerS:   milli(s.Goodput),
		Outcomes:      newOutcomes(s.Outcomes),
		Statuses:      newStatuses(s.Statuses),
		LatencyMS:     perClass(func(c wire.Class) latencies { return newLatencies(s.Latency[c]) }),
		PageMS:        pages{newLatencies(s.Pages), s.PagesFailed},
		Herd:          newHerd(s.Herd),
		Breaker:       breakers{s.Opened, s.HalfOpened, s.Closed, micro(s.OpenShare)},
		Queue:         perClass(func(c wire.Class) waits { return newWaits(s, c) }),
		Socket:        newSockets(s.Sockets),
		RetryAfter:    returns{s.Early, s.OnTime, s.Late, s.Untold},
		RecoveryS:     took,
		RecoveryNote:  note,
		Server:        newServer(r),
		FaultsMissed:  missedFaults(r.Faults),
	}
}

func perClass[T any](of func(wire.Class) T) byClass[T] {
	return byClass[T]{of(wire.Critical), of(wire.Interactive), of(wire.Background)}
}

func newOutcomes(n [wire.NumOutcomes]int64) outcomes {
	return outcomes{
		Succeeded:      n[wire.Succeeded],
		Degraded:       n[wire.Degraded],
		Failed:         n[wire.Failed],
		TimedOut:       n[wire.TimedOut],
		ExpiredInQueue: n[wire.ExpiredInQueue],
		Shed:           n[wire.Shed],
		ShortCircuited: n[wire.ShortCircuited],
		Cancelled:      n[wire.Cancelled],
		Unfinished:     n[wire.Unfinished],
	}
}

// newStatuses never gives nil, so that an empty run writes {} and not null.
// The encoder sorts the keys.
func newStatuses(n map[uint16]int64) map[string]int64 {
	out := make(map[string]int64, len(n))
	for status, count := range n {
		out[statusKey(status)] = count
	}
	return out
}

func newLatencies(p metrics.Percentiles) latencies {
	return latencies{
		P50:   percentile(p, 50),
		P90:   percentile(p, 90),
		P99:   percentile(p, 99),
		Max:   percentile(p, 100),
		Count: p.Count,
	}
}

func newWaits(s *metrics.Summary, c wire.Class) waits {
	p := s.Waits[c]
	return waits{
		P50MS:        percentile(p, 50),
		P99MS:        percentile(p, 99),
		MaxMS:        percentile(p, 100),
		OldestMS:     inMS(s.Oldest[c]),
		Starved:      s.Starved[c],
		KeptBack:     s.KeptBack[c],
		Overtakes:    s.Overtaken[c],
		ServiceGapMS: inMS(s.ServiceGap[c]),
		WaitEWMAMS:   only(p.Count > 0, inMS(s.WaitEWMA[c])),
		Count:        p.Count,
	}
}

func newSockets(v metrics.SocketView) sockets {
	return sockets{
		P50MS:  percentile(v.Waits, 50),
		P99MS:  percentile(v.Waits, 99),
		MaxMS:  percentile(v.Waits, 100),
		Unsent: v.Unsent,
		Count:  v.Waits.Count,
	}
}

func percentile(p metrics.Percentiles, q int) *milli {
	d, enough := at(p, q)
	return only(enough, inMS(d))
}

func newHerd(h metrics.Herd) herd {
	out := herd{
		BinMS:            inMS(h.BinWidth),
		PeakToMean:       only(h.Arrivals > 0, milli(h.PeakToMean)),
		ChancePeakToMean: only(h.Arrivals > 0, milli(h.Chance)),
		Synchrony: synchrony{
			PeriodMS: only(h.Period > 0, inMS(h.Period)),
			R:        only(h.Period > 0, micro(h.R)),
			Floor:    only(h.Period > 0, micro(h.Floor)),
		},
		HintedWaveShare: only(h.Hinted > 0, micro(h.HintedWaveShare)),
		Hinted:          h.Hinted,
	}
	for i, width := range fanoWidths(h.BinWidth) {
		out.Fano = append(out.Fano, fanoAt{width.String(), only(h.Enough[i], milli(h.Fano[i]))})
	}
	return out
}

func recovery(r metrics.Recovery) (took *milli, note *string) {
	if r.Known {
		return only(true, milli(r.Took.Seconds())), nil
	}
	why := noRecovery(r)
	return nil, &why
}

func newServer(r run.Result) server {
	s := &r.Summary
	return server{
		Arrivals:    s.Arrivals,
		BusyShare:   only(limitedWorkers(r), micro(s.BusyShare)),
		Rejected:    s.Rejected,
		Cancelled:   s.ServerCancelled,
		Reset:       s.Reset,
		WastedShare: micro(s.WastedShare),
		Duplicates:  s.Duplicates,

		Repeated: s.Repeated, RepeatedList: newRepeats(s.Repeats),
		RepeatedUnlisted: s.Repeated - int64(len(s.Repeats)),
		Replayed:         s.Replayed,
	}
}
