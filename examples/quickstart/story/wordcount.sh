# Count the words of a text file: sh wordcount.sh FILE
if [ $# -ne 1 ]; then
    echo "usage: wordcount.sh FILE" >&2
    exit 2
fi
n=0
while read -r line; do
    for word in $line; do n=$((n + 1)); done
    n=$((n + 1))
done < "$1"
echo "$n"
