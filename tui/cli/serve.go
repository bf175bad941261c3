package cli

import (
	"context"
	"fmt"
	"net"

	"github.com/spf13/cobra"

	"herdscope/engine/live"
	"herdscope/faultserver"
	"herdscope/faultserver/fault"
	"herdscope/scenarios"
)

// serveOptions is the flags of the serve command.
type serveOptions struct {
	experiment
	listen string
}

func (a *app) serveCommand() *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve [NAME|FILE]",
		Short: "Run only the failing server, for clients of your own",
		Long: "Run only the failing server of a scenario, for clients of your own.\n\n" +
			"The address goes to the standard output. The faults follow the scenario's\n" +
			"schedule from the start on. Ctrl+c stops the server.",
		Args:              atMostOne,
		ValidArgsFunction: completeScenario,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.serve(cmd.Context(), append(args, firstScenario)[0], o)
		},
	}
	o.register(cmd)
	cmd.Flags().StringVar(&o.listen, "listen", "127.0.0.1:0", "listen at this `ADDRESS`; port 0 is a free one")
	return cmd
}

func (a *app) serve(ctx context.Context, ref string, o serveOptions) error {
	s, err := o.load(a, ref)
	if err != nil {
		return err
	}
	open, err := exposed(o.listen)
	if err != nil {
		return err
	}
	server, err := a.startServer(s, o.listen)
	if err != nil {
		return err
	}
	a.announce(s, server.URL(), open)
	<-ctx.Done()
	return server.Close()
}

// startServer starts the server of a scenario with a run clock of its own.
func (a *app) startServer(s scenarios.Scenario, listen string) (*faultserver.Server, error) {
	runClock := live.NewClock()
	model, err := fault.New(s.Server, s.Seed, runClock.EpochUnixNanos())
	if err != nil {
		return nil, usage("scenario %s: server: %w", s.Name, err)
	}
	server, err := faultserver.Start(faultserver.Config{
		Addr: listen, Model: model, Clock: runClock, Routes: s.Routes, ErrorLog: a.logger(),
	})
	if err != nil {
		return nil, err
	}
	runClock.Resume()
	return server, nil
}

// announce tells programs the address, and people the rest.
func (a *app) announce(s scenarios.Scenario, url string, open bool) {
	fmt.Fprintln(a.out, url)
	fmt.Fprintf(a.err, "herdscope: serving %s; ctrl+c stops\n", s.Name)
	if open {
		fmt.Fprintln(a.err, "herdscope: warning: this address can be reached from other machines, "+
			"and the server answers anyone")
	}
	if len(s.Timeline) > 0 {
		fmt.Fprintln(a.err, "herdscope: the timeline of the scenario is not played; the faults' own windows are")
	}
}

// exposed says whether an address can be reached from other machines.
func exposed(address string) (bool, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false, usage("--listen: %w; want host:port, as in 127.0.0.1:8080", err)
	}
	ip := net.ParseIP(host)
	return host != "localhost" && (ip == nil || !ip.IsLoopback()), nil
}
