/*
 * The pieces of a line of JSON, as dlc-run prints it.
 */
#ifndef RUN_PRINT_JSON_H
#define RUN_PRINT_JSON_H

#include <math.h>
#include <stdio.h>

/* The text in quotes; bytes that JSON wants escaped are. */
static inline void json_text(FILE *f, const char *text)
{
	fputc('"', f);
	for (; *text != 0; text++) {
		unsigned char c = (unsigned char)*text;
		if (c == '"' || c == '\\')
			fprintf(f, "\\%c", c);
		else if (c < 32)
			fprintf(f, "\\u%04x", c);
		else
			fputc(c, f);
	}
	fputc('"', f);
}

/* ,1.5 or ,null where JSON has no such number */
static inline void json_value(FILE *f, double v)
{
	if (isfinite(v))
		fprintf(f, ",%.9g", v);
	else
		fputs(",null", f);
}

/* ,"key":1.5 */
static inline void json_number(FILE *f, const char *key, double v)
{
	if (isfinite(v))
		fprintf(f, ",\"%s\":%.9g", key, v);
	else
		fprintf(f, ",\"%s\":null", key);
}

#endif
