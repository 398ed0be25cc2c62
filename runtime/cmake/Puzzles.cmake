# Every folder of puzzles/ is a puzzle; nothing is registered elsewhere.
