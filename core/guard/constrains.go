package guard

import "regexp"

var limits = regexp.MustCompile(`(?i)\b(?:never|always|must|only|don't|do not|may not|not allowed|without|from now on|constraint|requirement)\b|しない|しては(?:いけ|なら)|禁止|必ず|常に|だけ|のみ|ないで|不要|不得|必须|只能`)

// Constrains reports that a user's words set a limit or a rule that holds beyond the moment: they outlive every summary (SES-06).
func Constrains(words string) bool { return limits.MatchString(words) }
