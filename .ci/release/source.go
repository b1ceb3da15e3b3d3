package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// semantic is a version by semver.org 2.0.0, without build metadata: it is part of file names and URLs.
var semantic = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`)

// describe finds version and time: what was said, else what git knows.
func describe(ctx context.Context, version, at, epoch string) (source, error) {
	src := source{version: strings.TrimPrefix(version, "v")}
	var err error
	switch {
	case at != "":
		src.at, err = time.Parse(time.RFC3339, at)
	case epoch != "":
		var n int64
		n, err = strconv.ParseInt(epoch, 10, 64)
		src.at = time.Unix(n, 0)
	default:
		src.at, err = commitTime(ctx)
	}
	if err != nil {
		return src, fmt.Errorf("time: %w", err)
	}
	src.at = src.at.UTC().Truncate(time.Second)
	if src.version == "" {
		if src.version, err = fromGit(ctx); err != nil {
			return src, fmt.Errorf("version: %w; or say -version", err)
		}
	}
	if !semantic.MatchString(src.version) {
		return src, fmt.Errorf("%q is no semantic version such as 1.2.3 or 1.2.3-rc.1", src.version)
	}
	return src, nil
}

func fromGit(ctx context.Context) (string, error) {
	long, err := git(ctx, "describe", "--tags", "--long", "--abbrev=12", "--match", "v[0-9]*")
	if err != nil {
		long = "" // no tag yet
	}
	commit, err := git(ctx, "rev-parse", "--short=12", "HEAD")
	if err != nil {
		return "", err
	}
	at, err := commitTime(ctx)
	if err != nil {
		return "", err
	}
	changed, err := git(ctx, "status", "--porcelain")
	if err != nil {
		return "", err
	}
	return derive(long, commit, at, changed != "")
}

var described = regexp.MustCompile(`^v(\d+\.\d+\.)(\d+)(-[0-9A-Za-z.-]+)?-(\d+)-g[0-9a-f]+$`)

// derive makes the version: the tag itself on its clean commit, else a pre-release after it that names the commit, in the way
// of Go's pseudo-versions, so that it sorts behind the last release and before the next one.
func derive(long, commit string, at time.Time, changed bool) (string, error) {
	pseudo := "0." + at.UTC().Format("20060102150405") + "-" + commit
	if changed {
		pseudo += ".changed"
	}
	if long == "" {
		return "0.0.0-" + pseudo, nil
	}
	m := described.FindStringSubmatch(long)
	if m == nil {
		return "", fmt.Errorf("the tag of %q is no semantic version", long)
	}
	front, patch, pre, after := m[1], m[2], m[3], m[4]
	if after == "0" && !changed {
		return front + patch + pre, nil
	}
	if pre != "" {
		return front + patch + pre + "." + pseudo, nil
	}
	n, err := strconv.Atoi(patch)
	if err != nil {
		return "", err
	}
	return front + strconv.Itoa(n+1) + "-" + pseudo, nil
}

func commitTime(ctx context.Context) (time.Time, error) {
	s, err := git(ctx, "log", "-1", "--format=%ct")
	if err != nil {
		return time.Time{}, err
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return time.Unix(n, 0), err
}

func git(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", args...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}
