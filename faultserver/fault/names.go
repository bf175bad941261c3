package fault

import "fmt"

var shapeNames = []string{
	"fixed", "exponential", "lognormal", "pareto", "uniform", "empirical",
}

var (
	whenFullNames  = []string{"reject", "block", "drop-oldest"}
	orderNames     = []string{"fifo", "lifo", "adaptive-lifo", "codel", "priority"}
	abandonedNames = []string{"serve", "cancel"}
)

// String is the policy's name, as scenario files write it.
func (w WhenFull) String() string { return nameOf(whenFullNames, int(w)) }

// String is the order's name, as scenario files write it.
func (o Order) String() string { return nameOf(orderNames, int(o)) }

// String is the choice's name, as scenario files write it.
func (a Abandoned) String() string { return nameOf(abandonedNames, int(a)) }

// ShapeNames lists the names of the shapes in the order of their values.
func ShapeNames() []string { return shapeNames }

// String is the shape's name, as scenario files write it.
func (s Shape) String() string { return nameOf(shapeNames, int(s)) }

// KindNames lists the names of the kinds of fault in the order of their values.
func KindNames() []string {
	names := make([]string, NumKinds)
	for k := range names {
		names[k] = kinds[k].name
	}
	return names
}

// String is the kind's name, as scenario files write it.
func (k Kind) String() string {
	if int(k) >= NumKinds {
		return nameOf(nil, int(k))
	}
	return kinds[k].name
}

func nameOf(names []string, i int) string {
	if i >= len(names) {
		return fmt.Sprintf("unknown(%d)", i)
	}
	return names[i]
}
