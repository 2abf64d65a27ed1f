// Package validate explains why a value breaks the rules of the protocol, as the
// tree of field errors that travels with -32602.
//
// It is the slow half of checking: generated code decides without reflection
// whether a value is fine, and only when it says no does [Struct] run
// go-playground/validator over the same value to say what is wrong. A test of package
// acp holds with random values that both agree. A nil pointer inside a union is the
// one thing that Struct alone refuses; there the encoder speaks up.
//
// The rules stand in struct tags with the key acp, so that validators of other
// people, which look for the key validate, do not trip over them. Rules of the
// schema hold always:
//
//	required    an interface that holds a union, or a pointer, is not nil; for the
//	            items of a list or map of unions: dive,required
//	min=N       a text has at least N characters, a list at least N items
//	max=N       the same for at most
//
// Rules of the protocol's prose hold only when the check is strict:
//
//	id          an id is not empty
//	filled      neither is any other text: a command, a value of an enumeration
//	abspath     a text is an absolute path: POSIX, drive or UNC
//	uri         a text is a URI with a scheme
//
// As validator has it, omitempty in front of a rule excuses the zero value (use it
// on optional texts and on acp.Opt), dive steps into lists and maps (structs,
// pointers and unions are walked into by themselves), and - leaves a field alone.
//
// Paths in the tree use the names of the json tags. A field with the json name "-"
// adds no step to the path: its members stand in the JSON object that contains it.
package validate
