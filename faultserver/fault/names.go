package fault

import "fmt"

var shapeNames = []string{"fixed", "exponential", "lognormal"}

// ShapeNames lists the names of the shapes in the order of their values.
func ShapeNames() []string { return shapeNames }

// String is the shape's name, as scenario files write it.
func (s Shape) String() string { return nameOf(shapeNames, int(s)) }

var kindNames = []string{"outage", "errors", "latency", "quota"}

// KindNames lists the names of the kinds of fault in the order of their values.
func KindNames() []string { return kindNames }

// String is the kind's name, as scenario files write it.
func (k Kind) String() string { return nameOf(kindNames, int(k)) }

func nameOf(names []string, i int) string {
	if i >= len(names) {
		return fmt.Sprintf("unknown(%d)", i)
	}
	return names[i]
}
