#include "queue.h"

void queue_push(struct queue *q, int value)
{
	q->items[q->last++] = value;
}

int queue_pop(struct queue *q)
{
	int value = q->items[q->first++];
	return value;
}

int queue_size(struct queue *q)
{
	return q->last - q->first;
}
