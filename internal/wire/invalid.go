package wire

// Invalid builds the *acp.InvalidError for complaints about where, such as
// "session/new params". Package acp sets it while it is initialised, because the
// engine must not import the vocabulary.
var Invalid func(where string, fields *FieldErrors) error
