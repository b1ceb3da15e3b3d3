echo 17
