// Package inside holds what the packages of rpcerr need to know of an error and no program
// does: one walk through what an error wraps, one form for the log, and the marks by which
// one package tells another where an error comes from.
package inside

// Walk calls visit for err and everything that it wraps, outermost first, in the order of
// errors.As, until visit returns true. It reports whether visit did.
func Walk(err error, visit func(error) (stop bool)) bool {
	for err != nil {
		if visit(err) {
			return true
		}
		switch w := err.(type) {
		case interface{ Unwrap() error }:
			err = w.Unwrap()
		case interface{ Unwrap() []error }:
			for _, err := range w.Unwrap() {
				if Walk(err, visit) {
					return true
				}
			}
			return false
		default:
			return false
		}
	}
	return false
}
