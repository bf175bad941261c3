package page

import (
	"fmt"
	"math"

	"herdscope/tui/theme"
	"herdscope/tui/widget"
)

// zone is one stretch of the stability line, up to a value.
type zone struct {
	name  string
	short string
	until float64
	role  theme.Role
	line  rune
}

// drawStability shows where the offered load lies: below what the server could
// serve if every request were tried as often as it may be, between that and its
// capacity, where a stall can feed on its own retries, or above.
func drawStability(a widget.Area, v View) {
	in := widget.Panel(a, "Stability", "not to scale")
	limit := v.Scenario.Sustained()
	attempts := v.Scenario.Fleet.Policy.Retry.Attempts
	load := v.Snap.Now.Offered
	if v.Status.Foreign { // how often they try is not known: what counts is what comes
		attempts, load = 1, v.Snap.Now.Sent
	}
	if limit <= 0 || attempts < 1 {
		drawUnlimited(widget.Panel(a, "Stability", ""), v)
		return
	}
	safe := limit / float64(attempts)
	zones := []zone{
		{"stable up to " + widget.Rate(safe), "stable", safe, theme.Good, '·'},
		{"VULNERABLE to " + widget.Rate(limit), "VULNERABLE", limit, theme.Limited, '╌'},
		{"overload", "overload", math.Inf(1), theme.Bad, '─'},
	}
	if attempts == 1 {
		zones = zones[1:]
		zones[0].name, zones[0].short, zones[0].role = "stable to "+widget.Rate(limit), "stable", theme.Good
	}
	drawZones(in, zones, load)
}

// drawUnlimited says that nothing can overload the server, and what hurts
// instead: where the clients have few slots, waiting for one.
func drawUnlimited(in widget.Area, v View) {
	bunching := "peak/mean " + peakToMean(v.Snap.Now) + " (chance " + chance(v.Snap.Now) + ")"
	texts := []string{
		"no capacity limit: nothing overloads the server; what hurts is attempts that come together: " + bunching,
		"no capacity limit: what hurts is attempts that come together: " + bunching,
		"no capacity limit; " + bunching,
	}
	if n := v.Scenario.Fleet.Policy.Queue.Limit; n > 0 && !v.Status.Foreign {
		wait := widget.Count(v.Snap.Waiting) + " wait"
		texts = []string{
			fmt.Sprintf("no capacity limit at the server: what hurts is %d slots per client and scope, for which %s", n, wait),
			fmt.Sprintf("no capacity limit; %s for %d slots per client and scope", wait, n),
		}
	}
	drawLongest(in, theme.Plain, append(texts, "no capacity limit")...)
}

// drawZones draws zones of equal width, their names inside, and the value with
// a marker in the zone where it lies.
func drawZones(in widget.Area, zones []zone, value float64) {
	width := in.W / len(zones)
	low := 0.0
	for i, z := range zones {
		a := in.Sub(i*width, 0, width, 1)
		if i == len(zones)-1 {
			a = in.Sub(i*width, 0, in.W-i*width, 1)
		}
		if value >= low && value < z.until {
			drawZoneHere(a, z, value, along01(value, low, z.until))
		} else {
			drawZone(a, z, theme.Of(z.role), 0)
		}
		low = z.until
	}
}

// along01 is how far a value is from low to high; without a high it nears the
// end as it grows.
func along01(v, low, high float64) float64 {
	if math.IsInf(high, 1) {
		return 1 - low/max(v, low, 1)
	}
	return (v - low) / (high - low)
}

// drawZoneHere draws the zone of the value: the marker where the value lies, and
// the zone's name on the side that has more room.
func drawZoneHere(a widget.Area, z zone, value, along float64) {
	text := "●" + widget.Rate(value)
	at := min(int(along*float64(a.W)), a.W-1-widget.Width(text))
	left := at >= a.W/2
	room := at - 3
	if !left {
		room = a.W - at - widget.Width(text) - 3
	}
	if widget.Width(z.name) > room {
		z.name = z.short
	}
	indent := 0
	if left { // the marker gives way to the name: the line is not to scale
		at = min(max(at, widget.Width(z.name)+2), a.W-1-widget.Width(text))
	} else {
		indent = a.W - widget.Width(z.name) - 3
		at = min(at, indent-widget.Width(text))
	}
	drawZone(a, z, theme.Of(z.role).Strong(), indent)
	a.Text(max(at, 0), 0, text, theme.Of(theme.Accent).Strong())
}

func drawZone(a widget.Area, z zone, style theme.Style, indent int) {
	a.Fill(z.line, style)
	a.Text(max(indent, 0), 0, " "+widget.Cut(z.name, a.W-3)+" ", style)
	a.Set(a.W-1, 0, '│', theme.Of(theme.Border))
}
