/*
 * Folders of this user, by the rules of the XDG base directory specification. These functions read the environment.
 */
#ifndef BASE_USER_FOLDER_H
#define BASE_USER_FOLDER_H

#include "base/arena.h"

/* $VARIABLE/tail if that is an absolute path, else ~/otherwise/tail. NULL: the user has no home. */
const char *user_file(Arena *a, const char *variable, const char *otherwise, const char *tail);
/* The folder of compiled code: $DLC_CODE_CACHE ("none": NULL), else dlc/code in the user's cache. NULL: no folder. */
const char *user_code_folder(Arena *a);

#endif
