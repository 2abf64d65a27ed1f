package stream

// WellFormedObject is tested by itself against json.Valid.
var WellFormedObject = wellFormedObject
