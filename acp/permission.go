package acp

// Selected answers a permission request with the option of that id.
func Selected(id PermissionOptionID) *RequestPermissionResponse {
	return &RequestPermissionResponse{Outcome: &SelectedPermissionOutcome{OptionID: id}}
}

// Cancelled answers a permission request whose turn was cancelled, or to which no
// option fits.
func Cancelled() *RequestPermissionResponse {
	return &RequestPermissionResponse{Outcome: &CancelledPermissionOutcome{}}
}

// SelectKind answers a permission request with the first option of the first of the
// kinds that is offered, and with [Cancelled] when none is. It is for programs that
// decide for their user, who must go by what options mean and not by their place:
//
//	acp.SelectKind(req.Options, acp.PermissionOptionKindAllowOnce, acp.PermissionOptionKindAllowAlways)
func SelectKind(options []PermissionOption, kinds ...PermissionOptionKind) *RequestPermissionResponse {
	for _, kind := range kinds {
		for _, o := range options {
			if o.Kind == kind {
				return Selected(o.OptionID)
			}
		}
	}
	return Cancelled()
}
