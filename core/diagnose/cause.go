package diagnose

import "strings"

// cause is the kind of error that a line reports.
type cause uint8

const (
	none     cause = iota
	refused        // EACCES, EPERM
	readOnly       // EROFS
	crossed        // EXDEV
	busy           // EBUSY: a protected place is a mount point
	missing        // ENOENT: what lies outside all roots is not visible
	network        // no connection
)

// phrases that name an error, in lower case, as glibc and the runtimes write them; the longer first where one holds another.
var phrases = []struct {
	text  string
	cause cause
}{
	{"[errno 13] permission denied", refused},
	{"eacces: permission denied", refused},
	{"eperm: operation not permitted", refused},
	{"[errno 1] operation not permitted", refused},
	{"[errno 30] read-only file system", readOnly},
	{"erofs: read-only file system", readOnly},
	{"[errno 18] invalid cross-device link", crossed},
	{"exdev: cross-device link not permitted", crossed},
	{"[errno 16] device or resource busy", busy},
	{"ebusy: resource busy or locked", busy},
	{"[errno 2] no such file or directory", missing},
	{"enoent: no such file or directory", missing},
	{"insufficient permission for", refused},
	{"accessdeniedexception", refused},
	{"readonlyfilesystemexception", readOnly},
	{"permission denied", refused},
	{"operation not permitted", refused},
	{"eacces", refused},
	{"eperm", refused},
	{"os error 13", refused},
	{"os error 1)", refused},
	{"read-only file system", readOnly},
	{"erofs", readOnly},
	{"os error 30", readOnly},
	{"invalid cross-device link", crossed},
	{"exdev", crossed},
	{"os error 18", crossed},
	{"device or resource busy", busy},
	{"os error 16", busy},
	{"connection refused", network},
	{"econnrefused", network},
	{"network is unreachable", network},
	{"enetunreach", network},
	{"no route to host", network},
	{"could not resolve", network},
	{"unable to resolve host", network},
	{"name resolution", network},
	{"name or service not known", network},
	{"nodename nor servname", network},
	{"no such host", network},
	{"enotfound", network},
	{"eai_again", network},
	{"unknownhostexception", network},
	{"failed to connect to", network},
	{"unknown host", network},
	{"no such file or directory", missing},
	{"os error 2)", missing},
	{": not found", missing},
	{"許可がありません", refused},
	{"許可されていない操作です", refused},
	{"読み込み専用ファイルシステムです", readOnly},
	{"無効なクロスデバイスリンクです", crossed},
	{"デバイスもしくはリソースがビジー状態です", busy},
	{"そのようなファイルやディレクトリはありません", missing},
	{"接続を拒否されました", network},
	{"ネットワークに届きません", network},
	{"ホストへの経路がありません", network},
	{"名前解決に一時的に失敗しました", network},
	{"名前またはサービスが不明です", network},
}

// causeOf finds the error of a line and where it stands. ASCII letters are folded byte by byte, so that places in the folded
// line are places in the line.
func causeOf(line string) (c cause, at, end int) {
	low := lower(line)
	for _, p := range phrases {
		if i := strings.Index(low, p.text); i >= 0 {
			return p.cause, i, i + len(p.text)
		}
	}
	return none, 0, 0
}

// lower folds ASCII only.
func lower(s string) string {
	for i := range len(s) {
		if c := s[i]; 'A' <= c && c <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if 'A' <= b[i] && b[i] <= 'Z' {
					b[i] += 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}
