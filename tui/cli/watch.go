package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"herdscope/engine/metrics"
	"herdscope/scenarios"
	"herdscope/scenarios/run"
	"herdscope/tui"
)

// watchServer shows the dashboard over the traffic of foreign clients.
func (a *app) watchServer(ctx context.Context, s scenarios.Scenario, o *serveOptions, arrivals *arrivalLog) error {
	if err := a.needScreen("herdscope serve"); err != nil {
		return err
	}
	screen := a.screen(o.screen)
	session, err := run.Open(s, run.Options{
		Addr: o.listen, Log: a.logger(),
		Foreign: &run.Foreign{
			Admin: o.admin, AdminToken: o.token, MaxConns: mostConnections(), OnArrival: arrivals.write,
		},
	})
	if err != nil {
		return explainListen(err)
	}
	a.announce(s, session.Target(), session.AdminURL(), o)
	left, err := tui.Run(context.WithoutCancel(ctx), noOpener{}, source{session}, screen)
	return errors.Join(err, left.Status.Err, summariseForeign(a.out, left.Snapshot))
}

// noOpener begins no other runs: foreign clients call one server.
type noOpener struct{}

// Open refuses.
func (noOpener) Open(scenarios.Scenario, bool) (tui.Source, error) {
	return nil, errors.New("foreign clients call one server; leave, and serve another scenario")
}

// Library is empty.
func (noOpener) Library() []scenarios.Scenario { return nil }

// summariseForeign says in a few lines what foreign clients did.
func summariseForeign(w io.Writer, s *metrics.Snapshot) error {
	v := s.Server
	lines := []string{
		fmt.Sprintf("%d attempts from %d clients in %.1f s", v.Arrivals, s.Clients, s.At.Seconds()),
	}
	if v.Arrivals == 0 {
		lines = append(lines, "no data: nobody called")
	} else {
		lines = append(lines,
			fmt.Sprintf("  %d requests, %d likely retries", s.Requests, s.Retries),
			fmt.Sprintf("  %d served, %d rejected, %d reset", v.Done, v.Rejected, v.Reset),
			fmt.Sprintf("  after a Retry-After: %d early, %d on time, %d late", v.Early, v.OnTime, v.Late))
	}
	for _, f := range slices.DeleteFunc(slices.Clone(s.Faults), func(f metrics.FaultView) bool { return f.Hits == 0 }) {
		lines = append(lines, fmt.Sprintf("  %s hit %d attempts", f.Name, f.Hits))
	}
	_, err := fmt.Fprintln(w, strings.Join(lines, "\n"))
	return err
}
