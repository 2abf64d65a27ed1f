// Copied to acp/v2 by go generate.

package acp

// Selected returns the response that selects the option with the given id.
func Selected(id PermissionOptionID) *RequestPermissionResponse {
	return &RequestPermissionResponse{Outcome: &SelectedPermissionOutcome{OptionID: id}}
}

// Cancelled returns the response to a permission request whose turn was cancelled, or for
// which no option is suitable.
func Cancelled() *RequestPermissionResponse {
	return &RequestPermissionResponse{Outcome: &CancelledPermissionOutcome{}}
}

// SelectKind returns the response that selects the first option of the first of the kinds
// that is offered, and [Cancelled] if none is. Programs that decide without a user must
// choose by kind and not by position:
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
