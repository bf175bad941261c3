package cli

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/spf13/cobra"

	"herdscope/engine/live"
	"herdscope/faultserver"
	"herdscope/faultserver/fault"
	"herdscope/scenarios"
)

// serveOptions is the flags of the serve command.
type serveOptions struct {
	experiment
	listen, admin, token, log string

	tui    bool
	screen screenOptions
}

// adminTokenVariable is where the token may be kept out of the list of processes.
const adminTokenVariable = "HERDSCOPE_ADMIN_TOKEN"

// noAdmin is the --admin that has no admin API.
const noAdmin = "off"

func (a *app) serveCommand() *cobra.Command {
	o := serveOptions{screen: newScreenOptions()}
	cmd := &cobra.Command{
		Use:   "serve [NAME|FILE]",
		Short: "Run only the failing server, for clients of your own",
		Long: "Run only the failing server of a scenario, for clients of your own.\n\n" +
			"Two addresses go to the standard output: that of the server, and that of the\n" +
			"admin API, where faults are looked at and changed while it runs. The faults\n" +
			"follow the scenario's schedule from the start on. Ctrl+c stops the server.\n" +
			"With --tui the dashboard shows what the clients do, as far as a server sees it.",
		Args:              atMostOne,
		ValidArgsFunction: completeScenario,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.serve(cmd.Context(), append(args, firstScenario)[0], o)
		},
	}
	o.register(cmd)
	f := cmd.Flags()
	f.StringVar(&o.listen, "listen", faultserver.DefaultAddr, "listen at this `ADDRESS`; port 0 is a free one")
	f.StringVar(&o.admin, "admin", faultserver.DefaultAddr,
		"listen for the admin API at this `ADDRESS`; "+noAdmin+" is nowhere")
	f.StringVar(&o.token, "admin-token", "",
		"let only those use the admin API who have this `TOKEN` (default: $"+adminTokenVariable+")")
	f.StringVar(&o.log, "log", "", "write each arrival to this `FILE`, one JSON object per line; - is the standard output")
	f.BoolVar(&o.tui, "tui", false, "show the dashboard over what the clients do")
	o.screen.register(f)
	return cmd
}

func (a *app) serve(ctx context.Context, ref string, o serveOptions) error {
	s, err := o.load(a, ref)
	if err != nil {
		return err
	}
	if err := o.check(); err != nil {
		return err
	}
	arrivals, err := a.openArrivals(o.log)
	if err != nil {
		return err
	}
	if o.tui {
		return errors.Join(a.watchServer(ctx, s, &o, arrivals), arrivals.close())
	}
	server, err := a.startServer(s, &o, arrivals)
	if err != nil {
		return errors.Join(err, arrivals.close())
	}
	a.announce(s, server.URL(), server.AdminURL(), &o)
	select {
	case <-ctx.Done():
	case <-server.Stopped():
	case <-arrivals.broken():
	}
	failure := server.Err()
	return errors.Join(failure, server.Close(), arrivals.close())
}

// check looks at the addresses before anything is begun.
func (o *serveOptions) check() error {
	if _, err := exposed("--listen", o.listen); err != nil {
		return err
	}
	if o.tui && o.log == stdoutName {
		return usage("--log -: the dashboard is on the standard output; log to a file")
	}
	if o.token == "" {
		o.token = os.Getenv(adminTokenVariable)
	}
	if o.admin == noAdmin {
		o.admin = ""
		return nil
	}
	open, err := exposed("--admin", o.admin)
	if err == nil && open && o.token == "" {
		return usage("--admin %s: other machines can reach this address, so it needs --admin-token", o.admin)
	}
	return err
}

// startServer starts the server of a scenario with a run clock of its own.
func (a *app) startServer(
	s scenarios.Scenario, o *serveOptions, arrivals *arrivalLog,
) (*faultserver.Server, error) {
	runClock := live.NewClock()
	s.Server.Routes = s.Routes
	model, err := fault.New(s.Server, s.Seed, runClock.EpochUnixNanos())
	if err != nil {
		return nil, usage("scenario %s: server: %w", s.Name, err)
	}
	server, err := faultserver.Start(faultserver.Config{
		Addr: o.listen, Model: model, Clock: runClock, Routes: s.Routes, AnyPath: true, AdHoc: true,
		ErrorLog: log.New(a.err, "herdscope: ", 0),
		Admin:    o.admin, AdminToken: o.token, OnArrival: arrivals.write,
		Guarded: true, MaxConns: mostConnections(),
	})
	if err != nil {
		return nil, explainListen(err)
	}
	runClock.Resume()
	return server, nil
}

// announce tells programs the addresses, and people the rest. The addresses make
// way for a log on the standard output.
func (a *app) announce(s scenarios.Scenario, url, admin string, o *serveOptions) {
	addresses := a.out
	if o.log == stdoutName {
		addresses = a.err
	}
	fmt.Fprintln(addresses, url)
	fmt.Fprintf(a.err, "herdscope: serving %s; ctrl+c stops\n", s.Name)
	if admin != "" {
		fmt.Fprintln(addresses, admin)
		fmt.Fprintf(a.err, "herdscope: admin API below %s%s\n", admin, faultserver.AdminPath)
	}
	if open, _ := exposed("--listen", o.listen); open {
		fmt.Fprintf(a.err, "herdscope: warning: other machines can reach %s, "+
			"and the server answers anyone\n", url)
	}
	if open, _ := exposed("--admin", o.admin); open && admin != "" {
		fmt.Fprintf(a.err, "herdscope: warning: other machines can reach %s; whoever reads along "+
			"learns the token, since nothing is encrypted\n", admin)
	}
	if len(s.Timeline) > 0 {
		fmt.Fprintln(a.err, "herdscope: the timeline of the scenario is not played; the faults' own windows are")
	}
}
