// Package tui is the screen: a bubbletea program that shows a running
// experiment and lets a hand change it.
//
// App is the root model. It knows sizes, pages, overlays, the tick of frames and
// how to leave; what a page shows is the page's affair (package page). It reads a
// Source on its own tick, about 25 times a second, so that the work of drawing
// does not grow with the traffic, and hands scenarios.Actions back to it.
//
// The package imports page, keymap, theme and widget, and the types of
// snapshots and scenarios; it must not import anything that runs. Package cli
// gives it a Source.
package tui
