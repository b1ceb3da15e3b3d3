echo $((6 * 7))
