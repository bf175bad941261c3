package queue

import (
	"fmt"

	"herdscope/engine/clock"
)

// Order is who goes first. Each order is a file of its own: its number, its
// rule, and an init that puts the rule into the table. One more order is one
// more such file, with the next number.
type Order uint8

// maxOrders is how many orders there can be.
const maxOrders = 32

// rule is all that makes an order.
type rule struct {
	// name is how people write the order.
	name string
	// bound is what Order.Bound says.
	bound string
	// rank sorts the requests of a class where their places do not; it must be
	// worth the same whenever it is asked. nil is by place.
	rank ranking
	// turn is the handle whose turn it is. Each class in may has somebody who
	// waits, and there is at least one.
	turn func(q *Queue, now clock.Instant, may Allowed) int32
	// expires is when w, who joins at now, will have waited too long. nil is
	// never.
	expires func(q *Queue, now clock.Instant, w *Waiter) clock.Instant
	// sheds says what becomes of those who have waited too long: they are shed
	// as one too many, or they have as good as missed their deadline.
	sheds bool
}

var (
	rules  [maxOrders]rule
	orders []string
)

// register puts an order into the table. The numbers must leave no gap, which a
// test checks; two orders with one number are a bug that stops the program.
func register(o Order, r rule) {
	if rules[o].name != "" {
		panic(fmt.Sprintf("queue: order %d is both %s and %s", o, rules[o].name, r.name))
	}
	rules[o] = r
	for len(orders) <= int(o) {
		orders = append(orders, "")
	}
	orders[o] = r.name
}

// OrderNames lists the orders' names in the order of their values.
func OrderNames() []string { return orders }

// String is the order's name, as people write it.
func (o Order) String() string {
	if int(o) < len(orders) {
		return orders[o]
	}
	return fmt.Sprintf("order %d", uint8(o))
}

// Bound says in a sentence without a full stop how long the order can let a
// request wait while others go first. The bounds hold for classes that may
// start, and for first tries and those retries that do not come in at the head.
func (o Order) Bound() string {
	if int(o) < len(orders) {
		return rules[o].bound
	}
	return ""
}
