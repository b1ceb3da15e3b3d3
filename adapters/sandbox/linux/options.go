package linux

import "time"

// Options of a Sandbox. The zero value is right for a Broker.
type Options struct {
	// RootUID is the unprivileged host user (and group) that runs the programs of a Broker that is the system's root;
	// files in the roots keep the owners root sees. Default 65533; must be no real account.
	RootUID int
	// NoSpare switches the prepared helper off: each Run then starts its own (about twice as slow).
	NoSpare bool
	// PollEvery is how often memory is looked at. Default 10 ms, range 1 ms to 1 s.
	PollEvery time.Duration
}

func (o Options) withDefaults() Options {
	if o.RootUID == 0 {
		o.RootUID = 65533
	}
	if o.PollEvery == 0 {
		o.PollEvery = 10 * time.Millisecond
	}
	o.PollEvery = min(max(o.PollEvery, time.Millisecond), time.Second)
	return o
}
