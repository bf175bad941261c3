package knob

// Integer is what a Field can stand for besides a bool.
type Integer interface {
	~int | ~int64 | ~uint8 | ~uint16
}

// At makes the Field that the place at finds in a configuration.
func At[C any, V Integer](s Spec, at func(*C) *V) Field[C] {
	return Field[C]{
		Spec: s,
		Get:  func(c *C) int64 { return int64(*at(c)) },
		Set:  func(c *C, v int64) { *at(c) = V(v) },
	}
}

// AtBool is At for a bool, which is 0 or 1.
func AtBool[C any](s Spec, at func(*C) *bool) Field[C] {
	return Field[C]{
		Spec: s,
		Get: func(c *C) int64 {
			if *at(c) {
				return 1
			}
			return 0
		},
		Set: func(c *C, v int64) { *at(c) = v != 0 },
	}
}

// Index finds the field with the given name; false if there is none.
func Index[C any](fields []Field[C], name string) (int, bool) {
	for i := range fields {
		if fields[i].Name == name {
			return i, true
		}
	}
	return -1, false
}

// CheckAll checks every field of the configuration, in order, and returns the
// first error.
func CheckAll[C any](fields []Field[C], c *C) error {
	for i := range fields {
		if err := fields[i].Check(fields[i].Get(c)); err != nil {
			return err
		}
	}
	return nil
}
