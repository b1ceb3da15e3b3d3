// Package stamp reads the timestamps of signed documents and key registries: RFC 3339 date-times as MissionWeave narrows
// them (R-2.3 to, D2). The text of a timestamp and the instant it names are two things: a signature covers the text,
// and a validity interval compares instants. So nothing here writes a timestamp, rounds one or knows what time it is.
//
// An instant keeps every digit of its fraction. Nanoseconds would not do: two timestamps may differ in the tenth digit.
package stamp

// Instant is one exact moment. The zero value is 1970-01-01T00:00:00Z. Instants of equal moments may differ as Go values;
// use Compare.
type Instant struct {
	second   int64  // since 1970-01-01T00:00:00Z, leap seconds not counted
	fraction string // digits of the fraction without trailing zeros
}

// Parse reads a timestamp:
//
//	YYYY-MM-DD (T|t) HH:MM:SS [.digits] (Z|z|±HH:MM)
//
// with a year from 0001, a date of the Gregorian calendar, seconds to 59 (no leap second), offsets to ±23:59, and not the
// offset -00:00, by which RFC 3339 says that the local time is unknown. ok is false for anything else, before or behind it
// too.
func Parse(s string) (at Instant, ok bool) {
	second, from, to, ok := scan(s)
	if !ok {
		return Instant{}, false
	}
	return Instant{second, s[from:to]}, true
}

// Valid is whether Parse would read it.
func Valid[T string | []byte](s T) bool {
	_, _, _, ok := scan(s)
	return ok
}

// UTC is whether a timestamp that Parse reads is written with an uppercase Z, as protected times are.
func UTC[T string | []byte](s T) bool { return len(s) > 0 && s[len(s)-1] == 'Z' }

// Compare gives -1, 0 or 1 when a is before, at or after b.
func (a Instant) Compare(b Instant) int {
	switch {
	case a.second < b.second:
		return -1
	case a.second > b.second:
		return 1
	case a.fraction < b.fraction: // left-aligned, without trailing zeros: the order of texts is that of fractions
		return -1
	case a.fraction > b.fraction:
		return 1
	}
	return 0
}

// scan reads a timestamp; its fraction is s[from:to].
func scan[T string | []byte](s T) (second int64, from, to int, ok bool) {
	const date = len("YYYY-MM-DDTHH:MM:SS")
	if len(s) <= date || s[4] != '-' || s[7] != '-' || s[10]|0x20 != 't' || s[13] != ':' || s[16] != ':' {
		return 0, 0, 0, false
	}
	year, a := number(s, 0, 4)
	month, b := number(s, 5, 7)
	day, c := number(s, 8, 10)
	hour, d := number(s, 11, 13)
	minute, e := number(s, 14, 16)
	sec, f := number(s, 17, 19)
	if !(a && b && c && d && e && f) || year < 1 || month < 1 || month > 12 || day < 1 || day > days(year, month) || hour > 23 || minute > 59 || sec > 59 {
		return 0, 0, 0, false
	}
	i := date
	from, to = i, i
	if s[i] == '.' {
		for from, i = i+1, i+1; i < len(s) && s[i]-'0' <= 9; i++ {
			if s[i] != '0' {
				to = i + 1
			}
		}
		if i == from {
			return 0, 0, 0, false
		}
		to = max(to, from)
	}
	offset, ok := zone(s, i)
	if !ok {
		return 0, 0, 0, false
	}
	return (epochDay(year, month, day)*24+int64(hour))*3600 + int64(minute*60+sec) - int64(offset)*60, from, to, true
}

// zone reads the rest of a timestamp: its offset in minutes.
func zone[T string | []byte](s T, i int) (minutes int, ok bool) {
	switch {
	case i+1 == len(s):
		return 0, s[i]|0x20 == 'z'
	case i+6 != len(s) || s[i+3] != ':' || s[i] != '+' && s[i] != '-':
		return 0, false
	}
	hour, a := number(s, i+1, i+3)
	minute, b := number(s, i+4, i+6)
	if !(a && b) || hour > 23 || minute > 59 {
		return 0, false
	}
	minutes = hour*60 + minute
	if s[i] == '-' {
		return -minutes, minutes > 0
	}
	return minutes, true
}

func number[T string | []byte](s T, from, to int) (n int, ok bool) {
	for i := from; i < to; i++ {
		c := s[i] - '0'
		if c > 9 {
			return 0, false
		}
		n = n*10 + int(c)
	}
	return n, true
}

func days(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// epochDay is the number of days from 1970-01-01, with years that begin in March so that a leap day is the last one.
func epochDay(year, month, day int) int64 {
	if month < 3 {
		year, month = year-1, month+12
	}
	return int64(365*year+year/4-year/100+year/400+(153*(month-3)+2)/5+day-1) - 719468
}
