package clock

// Queue is a priority queue of values ordered by time; values of the same
// instant leave in the order in which they came. The zero Queue is empty and
// ready. It allocates only to grow beyond the largest size it has had.
type Queue[T any] struct {
	items []item[T]
	seq   uint64
}

type item[T any] struct {
	at    Instant
	seq   uint64
	value T
}

func (a item[T]) before(b item[T]) bool {
	return a.at < b.at || a.at == b.at && a.seq < b.seq
}

// Len is the number of values in the queue.
func (q *Queue[T]) Len() int { return len(q.items) }

// Push adds a value that is due at the given instant.
func (q *Queue[T]) Push(at Instant, value T) {
	q.seq++
	q.items = append(q.items, item[T]{at, q.seq, value})
	q.up(len(q.items) - 1)
}

// Peek is the instant of the first value; false if the queue is empty.
func (q *Queue[T]) Peek() (Instant, bool) {
	if len(q.items) == 0 {
		return Never, false
	}
	return q.items[0].at, true
}

// Pop removes and returns the first value; false if the queue is empty.
func (q *Queue[T]) Pop() (Instant, T, bool) {
	if len(q.items) == 0 {
		var none T
		return Never, none, false
	}
	top := q.items[0]
	last := len(q.items) - 1
	q.items[0] = q.items[last]
	q.items[last] = item[T]{}
	q.items = q.items[:last]
	if last > 0 {
		q.down(0)
	}
	return top.at, top.value, true
}

// The heap is four wide: half the depth of a binary one, and the four children
// share a cache line or two.
const arity = 4

func (q *Queue[T]) up(i int) {
	moved := q.items[i]
	for i > 0 {
		parent := (i - 1) / arity
		if !moved.before(q.items[parent]) {
			break
		}
		q.items[i] = q.items[parent]
		i = parent
	}
	q.items[i] = moved
}

func (q *Queue[T]) down(i int) {
	moved := q.items[i]
	for {
		child := q.firstChild(i)
		if child < 0 || !q.items[child].before(moved) {
			break
		}
		q.items[i] = q.items[child]
		i = child
	}
	q.items[i] = moved
}

func (q *Queue[T]) firstChild(i int) int {
	from := i*arity + 1
	if from >= len(q.items) {
		return -1
	}
	best := from
	for c := from + 1; c < len(q.items) && c < from+arity; c++ {
		if q.items[c].before(q.items[best]) {
			best = c
		}
	}
	return best
}
