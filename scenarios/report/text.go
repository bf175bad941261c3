package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"

	"herdscope/engine/metrics"
	"herdscope/engine/wire"
	"herdscope/scenarios/run"
)

// Text writes the result as a summary for people: plain ASCII, aligned, with
// units, no escape codes. A dash stands for what had too few samples. The error
// is that of w.
func Text(w io.Writer, r run.Result) error {
	var b strings.Builder
	heading(&b, r)
	requests(&b, &r.Summary)
	attempts(&b, &r.Summary)
	latency(&b, &r.Summary)
	pageTimes(&b, &r.Summary)
	herding(&b, r.Summary.Herd)
	circuit(&b, r)
	queues(&b, &r.Summary)
	connections(&b, r.Summary.Sockets)
	hints(&b, &r.Summary)
	recovered(&b, r.Summary.Recovery)
	serverSide(&b, r)
	faults(&b, r.Faults)
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write the summary: %w", err)
	}
	return nil
}

// line writes one row: a label, and what is said of it.
func line(b *strings.Builder, label, format string, args ...any) {
	fmt.Fprintf(b, "%-15s %s\n", label, fmt.Sprintf(format, args...))
}

// table writes rows of cells, all but the first aligned to the right.
func table(b *strings.Builder, rows [][]string) {
	for _, row := range rows {
		fmt.Fprintf(b, "%-15s ", row[0])
		for _, cell := range row[1:] {
			fmt.Fprintf(b, "%12s", cell)
		}
		b.WriteByte('\n')
	}
}

func heading(b *strings.Builder, r run.Result) {
	clients := "1 client"
	if n := r.Summary.Clients; n != 1 {
		clients = grouped(int64(n)) + " clients"
	}
	fmt.Fprintf(b, "%s  %s  %s  seed %d  %s", printable(r.Scenario.Name), strings.ToUpper(mode(r.Live)),
		clients, r.Scenario.Seed, span(r.Summary.Duration))
	if r.Aborted {
		b.WriteString("  ABORTED")
	}
	b.WriteString("\n\n")
}

func requests(b *strings.Builder, s *metrics.Summary) {
	if s.Requests == 0 {
		line(b, "requests", "no data: none began%s", missed(s.Missed))
		return
	}
	line(b, "requests", "%s begun, goodput %.1f/s%s%s", grouped(s.Requests), s.Goodput, missed(s.Missed),
		shared(s.Joined))
	for _, o := range outcomeOrder {
		if n := s.Outcomes[o]; n > 0 {
			name := strings.ReplaceAll(o.String(), "_", " ")
			fmt.Fprintf(b, "  %-16s %12s  %s\n", name, grouped(n), share(n, s.Requests))
		}
	}
}

// printable makes a name from a file harmless to a terminal.
func printable(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, name)
}

// outcomeOrder is the outcomes from best to worst, and what is left at the end.
var outcomeOrder = []wire.Outcome{
	wire.Succeeded, wire.Degraded, wire.Failed, wire.TimedOut, wire.ExpiredInQueue,
	wire.Shed, wire.ShortCircuited, wire.Cancelled, wire.Unfinished,
}

// denied tells how many retries a budget refused, if any.
func denied(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %s retries denied by the budget", grouped(n))
}

// shared tells how many requests joined the flight of another, if any.
func shared(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %s joined an identical one under way", grouped(n))
}

// deadlocked tells how many nested requests could never have got a slot, if any.
func deadlocked(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %s nested deadlocks", grouped(n))
}

func missed(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %s arrivals missed because the sender was behind", grouped(n))
}

func attempts(b *strings.Builder, s *metrics.Summary) {
	line(b, "attempts", "%s sent, %s of them retries, amplification %s%s%s%s", grouped(s.Attempts),
		grouped(s.Retries), when(s.Requests > 0, "%.2fx", s.Amplification), denied(s.Denied),
		deadlocked(s.Deadlocks), underWay(s.InFlight))
	for _, status := range slices.Sorted(maps.Keys(s.Statuses)) {
		name := "status " + statusKey(status)
		if status == 0 {
			name = "no response"
		}
		n := s.Statuses[status]
		fmt.Fprintf(b, "  %-16s %12s  %s\n", name, grouped(n), share(n, s.Attempts))
	}
}

func underWay(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %s still under way", grouped(n))
}

func latency(b *strings.Builder, s *metrics.Summary) {
	rows := [][]string{{"latency", "count", "p50", "p90", "p99", "max"}}
	for c := range wire.Class(wire.NumClasses) {
		if p := s.Latency[c]; p.Count > 0 {
			rows = append(rows, []string{"  " + c.String(), grouped(p.Count),
				quantile(p, 50), quantile(p, 90), quantile(p, 99), quantile(p, 100)})
		}
	}
	if len(rows) == 1 {
		line(b, "latency", "- (no request succeeded)")
		return
	}
	table(b, rows)
}

// pageTimes tells how long pages took, if arrivals were pages.
func pageTimes(b *strings.Builder, s *metrics.Summary) {
	p := s.Pages
	if p.Count+s.PagesFailed == 0 {
		return
	}
	line(b, "pages", "%s whole, %s failed; p50 %s, p90 %s, p99 %s, max %s", grouped(p.Count),
		grouped(s.PagesFailed), quantile(p, 50), quantile(p, 90), quantile(p, 99), quantile(p, 100))
}

func quantile(p metrics.Percentiles, q int) string {
	d, enough := at(p, q)
	if !enough {
		return "-"
	}
	return span(d)
}

func herding(b *strings.Builder, h metrics.Herd) {
	some := h.Arrivals > 0
	line(b, "herd", "peak/mean %s (chance %s) in bins of %s", when(some, "%.1f", h.PeakToMean),
		when(some, "%.1f", h.Chance), span(h.BinWidth))
	var parts []string
	for i, width := range fanoWidths(h.BinWidth) {
		parts = append(parts, fmt.Sprintf("%s at %s", when(h.Enough[i], "%.1f", h.Fano[i]), span(width)))
	}
	few := ""
	if slices.Contains(h.Enough[:], false) {
		few = "; -: too few bins"
	}
	line(b, "", "Fano factor %s (chance 1%s)", strings.Join(parts, ", "), few)
	if h.Period > 0 {
		line(b, "", "synchrony %.3f at a period of %s (chance %.3f)", h.R, span(h.Period), h.Floor)
	}
	if h.Hinted > 0 {
		line(b, "", "%.0f %% of a Retry-After wave in its fullest bin (%s came back)",
			100*h.HintedWaveShare, grouped(h.Hinted))
	}
}

func circuit(b *strings.Builder, r run.Result) {
	s := &r.Summary
	if s.Opened+s.HalfOpened+s.Closed == 0 {
		line(b, "breakers", "%s", untouched(r))
		return
	}
	line(b, "breakers", "opened %s, half-opened %s, closed %s times; open for %.1f %% of their time",
		grouped(s.Opened), grouped(s.HalfOpened), grouped(s.Closed), 100*s.OpenShare)
}

func untouched(r run.Result) string {
	if !r.Scenario.Fleet.Policy.Breaker.On() {
		return "off"
	}
	return "never opened"
}

func queues(b *strings.Builder, s *metrics.Summary) {
	rows := [][]string{{"queue waits", "count", "p50", "p99", "max", "oldest now", "starved"}}
	for c := range wire.Class(wire.NumClasses) {
		p := s.Waits[c]
		if p.Max == 0 && s.Starved[c] == 0 {
			continue // nothing of this class ever had to wait
		}
		rows = append(rows, []string{"  " + c.String(), grouped(p.Count), quantile(p, 50), quantile(p, 99),
			quantile(p, 100), oldest(s, c), times(s.Starved[c])})
	}
	if len(rows) == 1 {
		line(b, "queue waits", "none")
		return
	}
	table(b, rows)
}

// connections says what waiting for one has cost, if anybody had to.
func connections(b *strings.Builder, v metrics.SocketView) {
	p := v.Waits
	if p.Count == 0 {
		return
	}
	line(b, "connections", "%s attempts waited for one, p50 %s, p99 %s, max %s; %s of them were never sent",
		grouped(p.Count), quantile(p, 50), quantile(p, 99), quantile(p, 100), grouped(v.Unsent))
}

func oldest(s *metrics.Summary, c wire.Class) string {
	if s.Oldest[c] == 0 {
		return "-"
	}
	return span(s.Oldest[c])
}

func times(n int64) string {
	if n == 0 {
		return "never"
	}
	return grouped(n) + " x"
}

func hints(b *strings.Builder, s *metrics.Summary) {
	if s.Early+s.OnTime+s.Late+s.Untold == 0 {
		return
	}
	line(b, "Retry-After", "%s came back too early, %s on time, %s late",
		grouped(s.Early), grouped(s.OnTime), grouped(s.Late))
	if s.Untold > 0 {
		line(b, "", "%s came back after one that nobody can read", grouped(s.Untold))
	}
}

func recovered(b *strings.Builder, r metrics.Recovery) {
	if r.Known {
		line(b, "recovery", "%s after the end of the last fault", span(r.Took))
		return
	}
	line(b, "recovery", "- (%s)", printable(noRecovery(r)))
}

func serverSide(b *strings.Builder, r run.Result) {
	s := &r.Summary
	line(b, "server", "%s arrivals, %s rejected, %s reset, %s duplicate effects", grouped(s.Arrivals),
		grouped(s.Rejected), grouped(s.Reset), grouped(s.Duplicates))
	if s.ServerCancelled > 0 {
		line(b, "", "%s given up on since their callers had left", grouped(s.ServerCancelled))
	}
	line(b, "", "workers busy %s, %s of the work wasted",
		when(limitedWorkers(r), "%.1f %%", 100*s.BusyShare), when(s.Arrivals > 0, "%.1f %%", 100*s.WastedShare))
	repeated(b, s)
}

func faults(b *strings.Builder, views []metrics.FaultView) {
	if len(views) == 0 {
		return
	}
	var parts []string
	for _, f := range views {
		if f.Hits > 0 || !hitNobody(f) {
			parts = append(parts, fmt.Sprintf("%s hit %s", printable(f.Name), grouped(f.Hits)))
		}
	}
	if len(parts) > 0 {
		line(b, "faults", "%s attempts", strings.Join(parts, ", "))
	}
	if idle := missedFaults(views); len(idle) > 0 {
		line(b, "hit nobody", "%s, in a whole window", printable(strings.Join(idle, ", ")))
	}
}

// hitNobody says whether a fault has had a window that hit nobody, or is on at
// the end of the run and has hit nobody at all.
func hitNobody(f metrics.FaultView) bool { return f.Missed > 0 || f.On && f.Hits == 0 }

// missedFaults names the faults that have had a window without a victim.
func missedFaults(views []metrics.FaultView) (names []string) {
	for _, f := range views {
		if hitNobody(f) {
			names = append(names, f.Name)
		}
	}
	return names
}
