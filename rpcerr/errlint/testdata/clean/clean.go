// Package clean uses none of the packages that are checked.
package clean

import "errors"

func fail() error { return errors.New("fine") }

var _ = fail
