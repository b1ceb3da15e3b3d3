package policy

import (
	"fmt"
	"time"

	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// ResourceInput is the resource part as configured; nil keeps the profile's value (RES-01).
type ResourceInput struct {
	Profile   string // constrained | normal | extended
	MemoryMiB *int
	Processes *int
	Timeout   *time.Duration
}

// Codes of refused resources.
const (
	CodeResourceProfile fault.Code = "policy.resource_profile" // args: profile
	CodeResourceValue   fault.Code = "policy.resource_value"   // args: name, value, max
)

// Upper bounds keep arithmetic safe; a host has less anyway.
const (
	maxMemoryMiB = 1 << 24            // 16 TiB
	maxProcesses = 1 << 20            // more than Linux's pid_max default
	maxTimeout   = 7 * 24 * time.Hour // one week
)

// ProfileLimits returns a profile's limits (RES-01).
func ProfileLimits(profile string) (Limits, bool) {
	switch profile {
	case "constrained":
		return Limits{4, 1024 << 20, 300 * time.Second}, true
	case "normal":
		return Limits{16, 4096 << 20, 1800 * time.Second}, true
	case "extended":
		return Limits{32, 8192 << 20, 3600 * time.Second}, true
	}
	return Limits{}, false
}

func limits(in ResourceInput) (Limits, []*fault.Error) {
	l, ok := ProfileLimits(in.Profile)
	var bad []*fault.Error
	if !ok {
		bad = append(bad, fault.New(CodeResourceProfile, "profile", in.Profile))
	}
	refuse := func(name string, value, most any) {
		bad = append(bad, fault.New(CodeResourceValue, "name", name, "value", fmt.Sprint(value), "max", fmt.Sprint(most)))
	}
	if v := in.MemoryMiB; v != nil {
		if l.MemoryBytes = int64(*v) << 20; *v <= 0 || *v > maxMemoryMiB {
			refuse("memory_mib", *v, maxMemoryMiB)
		}
	}
	if v := in.Processes; v != nil {
		if l.Processes = *v; *v <= 0 || *v > maxProcesses {
			refuse("processes", *v, maxProcesses)
		}
	}
	if v := in.Timeout; v != nil {
		if l.WallClock = *v; *v <= 0 || *v > maxTimeout {
			refuse("timeout", *v, maxTimeout)
		}
	}
	return l, bad
}
