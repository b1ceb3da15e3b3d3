# needs: perl
cat >p.pl <<'P'
use strict; use warnings;
use File::Temp qw(tempfile); use File::Find; use POSIX qw(:sys_wait_h strftime); use Fcntl qw(:flock); use IPC::Open3; use Encode;
my ($h, $name) = tempfile(); print $h "x"; close $h; unlink $name;
my $pid = fork // die; if (!$pid) { exit 5 } waitpid $pid, 0; die unless $? >> 8 == 5;
die unless `echo hi` eq "hi\n";
open my $f, '>', 'f' or die $!; flock $f, LOCK_EX or die $!; print $f "line\n" x 10; close $f;
my $n = 0; find(sub { $n++ if -f }, '.'); die unless $n >= 2;
my $p = open3(my $in, my $out, undef, 'cat'); print $in "through"; close $in; die unless <$out> eq 'through'; waitpid $p, 0;
local $SIG{ALRM} = sub { die "late\n" }; eval { alarm 1; select undef, undef, undef, 30 }; die unless $@ eq "late\n";
die unless (getpwuid $<)[0] eq 'agent'; die unless length decode('UTF-8', encode('UTF-8', "\x{65e5}")) == 1;
P
perl p.pl
perl -pi -e 's/line/row/' f
test "$(grep -c row f)" = 10
