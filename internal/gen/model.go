package main

import "slices"

// typeKind tells how a definition appears in Go.
type typeKind int

const (
	stringType  typeKind = iota // a string type: ids
	enumType                    // a string type with constants
	numberType                  // an int32 type with constants
	structType                  // a struct
	unionType                   // a sealed interface
	unknownType                 // the variant of a union for values that are not known
	foreignType                 // written by hand
)

// goType is one type of package acp.
type goType struct {
	Def      string // the definition it comes from
	Name     string // in Go
	Kind     typeKind
	Doc      string
	Topic    string
	Unstable bool

	Interface bool    // of a foreignType: an interface, not a struct
	Schema    *schema // of a foreignType that has a definition

	Values []enumValue // of an enumType and a numberType
	Fields []*field    // of a structType
	Extra  bool        // a structType that keeps members it does not know
	Union  *union      // of a unionType, and of its unknownType

	// A structType that is a variant has the tag that encoding writes. Several
	// variants may have the members of one definition, the model.
	Tag, TagValue string
	Model         *goType
	// Spread is set if a unionType is a variant of another union: it is the tag of the other one.
	// One object has the members of both.
	Spread string
	// Hidden is an unexported model.
	Hidden bool
	// Folded means that the fields have become those of another type.
	Folded bool
	// Ruled types can break rules and have a check.
	Ruled bool
	// Alias means that the type is the same as in an older version. Codec means that a type of this
	// version needs its codec.
	Alias, Codec bool
}

type enumValue struct{ Name, Value, Doc string }

// union describes how the variants of a unionType are distinguished.
type union struct {
	Tag      string // the member that names the variant; "" if a member's presence does
	Variants []variant
	Unknown  *goType // takes values that are not known; nil if they are errors

	// Fallback takes objects whose tag is absent; nil if there is none. If it guesses,
	// it takes objects with an unknown tag too, where they have its members.
	Fallback    *goType
	FallbackTag string // a tag that says so explicitly
	Guesses     bool

	// OneOf means that a value with the members of several variants is an error.
	OneOf bool
	// Needs are members, beside the tag, that a variant which is not known must have.
	Needs []string

	// Flat means that the variant's members stand in the container's object,
	// beside the common ones.
	Flat   bool
	Common []string
}

// variant is one known variant. Key is the value of the tag, or the member that only this variant
// has.
type variant struct {
	Key  string
	Type *goType
}

// form is how a field holds its value.
type form int

const (
	plain   form = iota // T
	pointer             // *T
	opt                 // Opt[T]
	inlined             // a union whose members stand in this object
)

// field is one field of a struct.
type field struct {
	JSON, Name, Doc string
	Unstable        bool
	Base            base
	Form            form

	Required, Nullable, Lenient, Skip, NullDefault bool
	// PayloadOf is the value of the tag PayloadTag with which the member has this meaning. With
	// another value it is a member that is not known.
	PayloadTag, PayloadOf string
	// Default is the JSON that encoding writes for an empty field.
	Default string
	// Rule is the rule for the text, or for the texts in the list.
	Rule string
	// Bound is a rule of the schema in addition to the type: the condition of a violation, with %s for
	// the value. Read is the call that reads a value and enforces the rule.
	Bound, Read string
	// Filled means that the list has at least one item.
	Filled bool
}

// baseKind tells what a value is.
type baseKind int

const (
	isString baseKind = iota
	isBool
	isUint16
	isUint32
	isUint64
	isInt32
	isInt64
	isFloat
	isRaw       // any JSON
	isRawObject // any JSON object
	isMeta
	isNamed // a goType
	isList  // of Elem
	isMap   // of Elem by string
)

// base is a value without its form.
type base struct {
	Kind baseKind
	Type *goType
	Elem *base
}

func (k baseKind) number() bool { return k >= isUint16 && k <= isFloat }

func (k baseKind) unsigned() bool { return k >= isUint16 && k <= isUint64 }

var scalarNames = map[baseKind]string{
	isString: "string", isBool: "bool", isUint16: "uint16", isUint32: "uint32", isUint64: "uint64",
	isInt32: "int32", isInt64: "int64", isFloat: "float64", isRaw: "json.RawMessage",
	isRawObject: "json.RawMessage", isMeta: "Meta",
}

// goType spells the type of the value in Go.
func (b base) goType() string {
	switch b.Kind {
	case isNamed:
		return b.Type.Name
	case isList:
		return "[]" + b.Elem.goType()
	case isMap:
		return "map[string]" + b.Elem.goType()
	}
	return scalarNames[b.Kind]
}

func (b base) is(kind typeKind) bool { return b.Kind == isNamed && b.Type.Kind == kind }

// text reports whether the value is a string in Go.
func (b base) text() bool { return b.Kind == isString || b.is(stringType) || b.is(enumType) }

// goType spells the type of the field in Go.
func (f *field) goType() string {
	t := f.Base.goType()
	switch f.Form {
	case pointer:
		return "*" + t
	case opt:
		return "Opt[" + t + "]"
	}
	return t
}

// wireName returns the name of the member ready to append, quoted for Go source.
func (f *field) wireName() string { return "`," + quote(f.JSON) + ":`" }

func quote(s string) string { return `"` + s + `"` }

// spelled returns the name of the type in Go source. Names of functions contain Name.
func (t *goType) spelled() string {
	if t.Hidden {
		return lower(t.Name)
	}
	return t.Name
}

// members returns the type whose fields the struct has.
func (t *goType) members() *goType {
	if t.Model != nil {
		return t.Model
	}
	return t
}

// needs reports whether an object of the struct must have members.
func (t *goType) needs() bool {
	return slices.ContainsFunc(t.members().Fields, func(f *field) bool { return f.Required || f.Form == inlined })
}
