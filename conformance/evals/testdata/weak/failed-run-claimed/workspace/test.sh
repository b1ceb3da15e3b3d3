echo broken; exit 3
