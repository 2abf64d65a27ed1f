package jetstream

import "time"

// WithLease returns options with which a heartbeat is valid for so long.
func (o *Options) WithLease(lease time.Duration) *Options { o.lease = lease; return o }

// Unchecked returns options with which streams that exist are used whatever their settings are.
func (o *Options) Unchecked() *Options { o.unchecked = true; return o }
