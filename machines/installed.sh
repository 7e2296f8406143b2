# A program that was built elsewhere: the questions that every root of an artifact is asked.
run version clockscope --version --verbose
run measure clockscope measure --json --duration 500ms
run check clockscope check --json --duration 500ms
run page clockscope measure monotonic --duration 200ms --format html
