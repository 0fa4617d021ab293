/*
 * node.def as a table: what printer, parser, type rules and documentation read.
 */
#ifndef IR_NODE_H
#define IR_NODE_H

#include "ir/expr.h"

/* INFIX rows hold their precedence: 1 binds loosest, 8 tightest of them. */
typedef enum {
	FORM_INFIX1 = 1,
	FORM_INFIX2,
	FORM_INFIX3,
	FORM_INFIX4,
	FORM_INFIX5,
	FORM_INFIX6,
	FORM_INFIX7,
	FORM_INFIX8,
	FORM_PREFIX,
	FORM_ATOM,
	FORM_OTHER,
	FORM_CALL1,
	FORM_CALL2,
	FORM_CALL3,
} NodeForm;

typedef enum { TYPE_SAME, TYPE_BOOL, TYPE_LOGIC, TYPE_FLOAT, TYPE_INT, TYPE_OWN } NodeType;

typedef struct NodeRow {
	const char *name, *text;
	NodeForm form;
	NodeType type;
	const char *meaning;
} NodeRow;

extern const NodeRow ir_node_row[IR_NODE_COUNT];

/*
 * What is wrong with the types of this node (its arguments being right), as a clause that goes
 * after "select: "; NULL if nothing is. Buffers are not looked at.
 */
const char *ir_type_error(const Expr *e);
/* The first node in e with such an error, NULL if there is none; *why gets the clause. */
const Expr *ir_find_type_error(const Expr *e, const char **why);

#endif
