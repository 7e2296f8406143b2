/* Runs a command in a console, and sends that console's processes an event when a line comes in.
 *
 *     console c|break COMMAND...      Ctrl-C or Ctrl-Break; ends with the command's exit code
 */
#include <stdio.h>
#include <string.h>
#include <windows.h>

static BOOL WINAPI stay(DWORD event)
{
    (void)event;
    return TRUE;
}

int main(int count, char **arguments)
{
    STARTUPINFOA start = {.cb = sizeof start, .dwFlags = STARTF_USESTDHANDLES};
    PROCESS_INFORMATION child;
    char line[16];
    DWORD code = 1;
    if (count < 3) return 100;
    start.hStdInput = GetStdHandle(STD_INPUT_HANDLE);
    start.hStdOutput = GetStdHandle(STD_OUTPUT_HANDLE);
    start.hStdError = GetStdHandle(STD_ERROR_HANDLE);
    /* Fails where there is one. */
    FreeConsole();
    if (!AllocConsole()) fprintf(stderr, "AllocConsole: error %lu\n", GetLastError());
    fprintf(stderr, "window %p cp %u\n", (void*)GetConsoleWindow(), GetConsoleCP());
    if (!SetConsoleCtrlHandler(stay, TRUE)) return 101;
    char *command = strstr(GetCommandLineA(), arguments[2]);
    if (!command) return 102;
    if (command[-1] == '"') command--;
    if (!CreateProcessA(NULL, command, NULL, NULL, TRUE, 0, NULL, NULL, &start, &child)) return 103;
    if (!fgets(line, sizeof line, stdin)) return 104;
    if (!GenerateConsoleCtrlEvent(strcmp(arguments[1], "c") ? CTRL_BREAK_EVENT : CTRL_C_EVENT, 0)) {
        fprintf(stderr, "GenerateConsoleCtrlEvent: error %lu\n", GetLastError());
        TerminateProcess(child.hProcess, 1);
        return 105;
    }
    WaitForSingleObject(child.hProcess, INFINITE);
    if (!GetExitCodeProcess(child.hProcess, &code)) return 106;
    return (int)code;
}
