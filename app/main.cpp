// The last catch, and nothing else: hands over to the commands.
#include "app/cli/program.h"

int main(int argc, char** argv) {
    return aft::app::run_program(argc, argv);
}
