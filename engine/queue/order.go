package queue

// Order is who goes first.
type Order uint8

// The orders.
const (
	// Strict serves the most important class first, and each class in the order
	// of submission. Nothing bounds the wait of a lesser class.
	Strict Order = iota
	// FIFO serves in the order of submission, whatever the class.
	FIFO
)

var orderNames = []string{"strict", "fifo"}

// OrderNames lists the orders' names in the order of their values.
func OrderNames() []string { return orderNames }
