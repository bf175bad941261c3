package theme

// Role is what a thing on the screen is, from which its look follows.
type Role uint8

// The roles.
const (
	// Plain is the terminal's own foreground and background.
	Plain Role = iota
	// Dim is what may be overlooked: labels, borders, thresholds.
	Dim
	// Border is the frame of a panel.
	Border
	// Title is the name of a panel.
	Title
	// Accent marks what is selected or what a key would do.
	Accent
	// First and Retry are first tries and retries; RetryDeep is what shows
	// between the grains of a retry's texture, and RetryEdge is as bright as the
	// texture seen from afar.
	First
	Retry
	RetryDeep
	RetryEdge
	// Good, Bad and Limited are success, failure and being held back.
	Good
	Bad
	Limited
	// Half is a half-open breaker.
	Half
	// Critical, Interactive and Background are the priority classes.
	Critical
	Interactive
	Background
	// Fault is the window of a fault in the strip under a chart; Band the same
	// window behind a chart.
	Fault
	Band
	// Ink is text on a Banner, and Banner a background that nobody overlooks.
	Ink
	Banner
	// Selected is the background of a selected line.
	Selected
	// Heat1 to Heat4 are the cells of a heat map, from few to many.
	Heat1
	Heat2
	Heat3
	Heat4

	// NumRoles is the number of roles.
	NumRoles = int(Heat4) + 1
)

// def is a role's colours: in true colour on a dark and on a light background,
// and as SGR parameters among 16 colours. An empty one is the terminal's own.
type def struct {
	dark, light string
	sgr         string
	// sgrBack is the background where it is not sgr's colour.
	sgrBack string
}

// The hues of events and classes are those of Okabe and Ito, which people who
// see fewer colours can tell apart. The light ones are darkened until their
// contrast to white is at least 4.5.
var roles = [NumRoles]def{
	Plain:       {},
	Dim:         {dark: "#8C93A0", light: "#5F6670", sgr: "2"},
	Border:      {dark: "#5A6270", light: "#9AA1AB", sgr: "2"},
	Title:       {dark: "#D8DEE9", light: "#2B303B", sgr: ""},
	Accent:      {dark: "#7FD1FF", light: "#005A8C", sgr: "36"},
	First:       {dark: "#56B4E9", light: "#0A6FA8", sgr: "36"},
	Retry:       {dark: "#E69F00", light: "#8A5A00", sgr: "33"},
	RetryDeep:   {dark: "#7A5200", light: "#E8C98A", sgr: "33", sgrBack: "40"},
	RetryEdge:   {dark: "#B07800", light: "#B9913F", sgr: "33"},
	Good:        {dark: "#1FBF92", light: "#007452", sgr: "32"},
	Bad:         {dark: "#F0712C", light: "#B34700", sgr: "31"},
	Limited:     {dark: "#F0E442", light: "#6E6600", sgr: "93", sgrBack: "103"},
	Half:        {dark: "#CC79A7", light: "#9C3F74", sgr: "35"},
	Critical:    {dark: "#CC79A7", light: "#9C3F74", sgr: "35"},
	Interactive: {dark: "#56B4E9", light: "#0A6FA8", sgr: "36"},
	Background:  {dark: "#A8ADB7", light: "#5F6670", sgr: "37"},
	Fault:       {dark: "#7A2E22", light: "#F3B9A8", sgr: "31", sgrBack: "7"},
	Band:        {dark: "#2C1B1B", light: "#FBEAE5", sgr: ""},
	Ink:         {dark: "#101418", light: "#FFFFFF", sgr: "30"},
	Banner:      {dark: "#F0E442", light: "#6E6600", sgr: "33"},
	Selected:    {dark: "#24303E", light: "#DCE9F5", sgr: ""},
	Heat1:       {dark: "#4A6FA5", light: "#7FB0D8", sgr: "34"},
	Heat2:       {dark: "#21A08C", light: "#3E86BD", sgr: "36"},
	Heat3:       {dark: "#7AD151", light: "#1F5FA8", sgr: "32"},
	Heat4:       {dark: "#FDE725", light: "#0B2E6B", sgr: "93", sgrBack: "103"},
}
