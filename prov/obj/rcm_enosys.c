/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_enosys.h"

#include <rdma/fi_collective.h>
#include <rdma/fi_errno.h>

#include "rcm_obj.h"

/* none of them looks at what it is given */
#pragma GCC diagnostic ignored "-Wunused-parameter"

int rcm_no_close(struct fid *fid)
{
	return -FI_ENOSYS;
}

int rcm_no_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	return -FI_ENOSYS;
}

int rcm_no_control(struct fid *fid, int command, void *arg)
{
	return -FI_ENOSYS;
}

int rcm_no_ops_open(struct fid *fid, const char *name, uint64_t flags,
		    void **ops, void *context)
{
	return -FI_ENOSYS;
}

int rcm_no_tostr(const struct fid *fid, char *buf, size_t len)
{
	return -FI_ENOSYS;
}

int rcm_no_ops_set(struct fid *fid, const char *name, uint64_t flags, void *ops,
		   void *context)
{
	return -FI_ENOSYS;
}

/* NOLINTBEGIN(readability-function-size): the arguments are the core's */
static ssize_t rcm_no_msg_recv(struct fid_ep *ep, void *buf, size_t len,
			       void *desc, fi_addr_t addr, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t rcm_no_msg_iov(struct fid_ep *ep, const struct iovec *iov,
			      void **desc, size_t count, fi_addr_t addr,
			      void *context)
{
	return -FI_ENOSYS;
}

static ssize_t rcm_no_msg_msg(struct fid_ep *ep, const struct fi_msg *msg,
			      uint64_t flags)
{
	return -FI_ENOSYS;
}

static ssize_t rcm_no_msg_send(struct fid_ep *ep, const void *buf, size_t len,
			       void *desc, fi_addr_t addr, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t rcm_no_msg_inject(struct fid_ep *ep, const void *buf, size_t len,
				 fi_addr_t addr)
{
	return -FI_ENOSYS;
}

static ssize_t rcm_no_msg_senddata(struct fid_ep *ep, const void *buf,
				   size_t len, void *desc, uint64_t data,
				   fi_addr_t addr, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t rcm_no_msg_injectdata(struct fid_ep *ep, const void *buf,
				     size_t len, uint64_t data, fi_addr_t addr)
{
	return -FI_ENOSYS;
}

struct fi_ops_msg rcm_no_msg_ops = {
	.size = sizeof(struct fi_ops_msg),
	.recv = rcm_no_msg_recv,
	.recvv = rcm_no_msg_iov,
	.recvmsg = rcm_no_msg_msg,
	.send = rcm_no_msg_send,
	.sendv = rcm_no_msg_iov,
	.sendmsg = rcm_no_msg_msg,
	.inject = rcm_no_msg_inject,
	.senddata = rcm_no_msg_senddata,
	.injectdata = rcm_no_msg_injectdata,
};

static ssize_t rcm_no_tagged_recv(struct fid_ep *ep, void *buf, size_t len,
				  void *desc, fi_addr_t addr, uint64_t tag,
				  uint64_t ignore, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t rcm_no_tagged_recvv(struct fid_ep *ep, const struct iovec *iov,
				   void **desc, size_t count, fi_addr_t addr,
				   uint64_t tag, uint64_t ignore, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t rcm_no_tagged_msg(struct fid_ep *ep,
				 const struct fi_msg_tagged *msg,
				 uint64_t flags)
{
	return -FI_ENOSYS;
}

static ssize_t rcm_no_tagged_send(struct fid_ep *ep, const void *buf,
				  size_t len, void *desc, fi_addr_t addr,
				  uint64_t tag, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t rcm_no_tagged_sendv(struct fid_ep *ep, const struct iovec *iov,
				   void **desc, size_t count, fi_addr_t addr,
				   uint64_t tag, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t rcm_no_tagged_inject(struct fid_ep *ep, const void *buf,
				    size_t len, fi_addr_t addr, uint64_t tag)
{
	return -FI_ENOSYS;
}

static ssize_t rcm_no_tagged_senddata(struct fid_ep *ep, const void *buf,
				      size_t len, void *desc, uint64_t data,
				      fi_addr_t addr, uint64_t tag,
				      void *context)
{
	return -FI_ENOSYS;
}

static ssize_t rcm_no_tagged_injectdata(struct fid_ep *ep, const void *buf,
					size_t len, uint64_t data,
					fi_addr_t addr, uint64_t tag)
{
	return -FI_ENOSYS;
}

struct fi_ops_tagged rcm_no_tagged_ops = {
	.size = sizeof(struct fi_ops_tagged),
	.recv = rcm_no_tagged_recv,
	.recvv = rcm_no_tagged_recvv,
	.recvmsg = rcm_no_tagged_msg,
	.send = rcm_no_tagged_send,
	.sendv = rcm_no_tagged_sendv,
	.sendmsg = rcm_no_tagged_msg,
	.inject = rcm_no_tagged_inject,
	.senddata = rcm_no_tagged_senddata,
	.injectdata = rcm_no_tagged_injectdata,
};

static ssize_t rcm_no_rma_read(struct fid_ep *ep, void *buf, size_t len,
			       void *desc, fi_addr_t addr, uint64_t raddr,
			       uint64_t key, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t rcm_no_rma_iov(struct fid_ep *ep, const struct iovec *iov,
			      void **desc, size_t count, fi_addr_t addr,
			      uint64_t raddr, uint64_t key, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t rcm_no_rma_msg(struct fid_ep *ep, const struct fi_msg_rma *msg,
			      uint64_t flags)
{
	return -FI_ENOSYS;
}

static ssize_t rcm_no_rma_write(struct fid_ep *ep, const void *buf, size_t len,
				void *desc, fi_addr_t addr, uint64_t raddr,
				uint64_t key, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t rcm_no_rma_inject(struct fid_ep *ep, const void *buf, size_t len,
				 fi_addr_t addr, uint64_t raddr, uint64_t key)
{
	return -FI_ENOSYS;
}

static ssize_t rcm_no_rma_writedata(struct fid_ep *ep, const void *buf,
				    size_t len, void *desc, uint64_t data,
				    fi_addr_t addr, uint64_t raddr,
				    uint64_t key, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t rcm_no_rma_injectdata(struct fid_ep *ep, const void *buf,
				     size_t len, uint64_t data, fi_addr_t addr,
				     uint64_t raddr, uint64_t key)
{
	return -FI_ENOSYS;
}

struct fi_ops_rma rcm_no_rma_ops = {
	.size = sizeof(struct fi_ops_rma),
	.read = rcm_no_rma_read,
	.readv = rcm_no_rma_iov,
	.readmsg = rcm_no_rma_msg,
	.write = rcm_no_rma_write,
	.writev = rcm_no_rma_iov,
	.writemsg = rcm_no_rma_msg,
	.inject = rcm_no_rma_inject,
	.writedata = rcm_no_rma_writedata,
	.injectdata = rcm_no_rma_injectdata,
};

static ssize_t rcm_no_atomic_write(struct fid_ep *ep, const void *buf,
				   size_t count, void *desc, fi_addr_t addr,
				   uint64_t raddr, uint64_t key,
				   enum fi_datatype type, enum fi_op op,
				   void *context)
{
	return -FI_ENOSYS;
}

static ssize_t rcm_no_atomic_writev(struct fid_ep *ep, const struct fi_ioc *iov,
				    void **desc, size_t count, fi_addr_t addr,
				    uint64_t raddr, uint64_t key,
				    enum fi_datatype type, enum fi_op op,
				    void *context)
{
	return -FI_ENOSYS;
}

static ssize_t rcm_no_atomic_writemsg(struct fid_ep *ep,
				      const struct fi_msg_atomic *msg,
				      uint64_t flags)
{
	return -FI_ENOSYS;
}

static ssize_t rcm_no_atomic_inject(struct fid_ep *ep, const void *buf,
				    size_t count, fi_addr_t addr,
				    uint64_t raddr, uint64_t key,
				    enum fi_datatype type, enum fi_op op)
{
	return -FI_ENOSYS;
}

static ssize_t rcm_no_atomic_readwrite(struct fid_ep *ep, const void *buf,
				       size_t count, void *desc, void *result,
				       void *result_desc, fi_addr_t addr,
				       uint64_t raddr, uint64_t key,
				       enum fi_datatype type, enum fi_op op,
				       void *context)
{
	return -FI_ENOSYS;
}

static ssize_t rcm_no_atomic_readwritev(struct fid_ep *ep,
					const struct fi_ioc *iov, void **desc,
					size_t count, struct fi_ioc *resultv,
					void **result_desc, size_t result_count,
					fi_addr_t addr, uint64_t raddr,
					uint64_t key, enum fi_datatype type,
					enum fi_op op, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t rcm_no_atomic_readwritemsg(struct fid_ep *ep,
					  const struct fi_msg_atomic *msg,
					  struct fi_ioc *resultv,
					  void **result_desc,
					  size_t result_count, uint64_t flags)
{
	return -FI_ENOSYS;
}

static ssize_t rcm_no_atomic_compwrite(struct fid_ep *ep, const void *buf,
				       size_t count, void *desc,
				       const void *compare, void *compare_desc,
				       void *result, void *result_desc,
				       fi_addr_t addr, uint64_t raddr,
				       uint64_t key, enum fi_datatype type,
				       enum fi_op op, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t rcm_no_atomic_compwritev(
	struct fid_ep *ep, const struct fi_ioc *iov, void **desc, size_t count,
	const struct fi_ioc *comparev, void **compare_desc,
	size_t compare_count, struct fi_ioc *resultv, void **result_desc,
	size_t result_count, fi_addr_t addr, uint64_t raddr, uint64_t key,
	enum fi_datatype type, enum fi_op op, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t
rcm_no_atomic_compwritemsg(struct fid_ep *ep, const struct fi_msg_atomic *msg,
			   const struct fi_ioc *comparev, void **compare_desc,
			   size_t compare_count, struct fi_ioc *resultv,
			   void **result_desc, size_t result_count,
			   uint64_t flags)
{
	return -FI_ENOSYS;
}

static int rcm_no_atomic_valid(struct fid_ep *ep, enum fi_datatype type,
			       enum fi_op op, size_t *count)
{
	return -FI_ENOSYS;
}

struct fi_ops_atomic rcm_no_atomic_ops = {
	.size = sizeof(struct fi_ops_atomic),
	.write = rcm_no_atomic_write,
	.writev = rcm_no_atomic_writev,
	.writemsg = rcm_no_atomic_writemsg,
	.inject = rcm_no_atomic_inject,
	.readwrite = rcm_no_atomic_readwrite,
	.readwritev = rcm_no_atomic_readwritev,
	.readwritemsg = rcm_no_atomic_readwritemsg,
	.compwrite = rcm_no_atomic_compwrite,
	.compwritev = rcm_no_atomic_compwritev,
	.compwritemsg = rcm_no_atomic_compwritemsg,
	.writevalid = rcm_no_atomic_valid,
	.readwritevalid = rcm_no_atomic_valid,
	.compwritevalid = rcm_no_atomic_valid,
};

static ssize_t rcm_no_coll_barrier(struct fid_ep *ep, fi_addr_t coll_addr,
				   void *context)
{
	return -FI_ENOSYS;
}

static ssize_t rcm_no_coll_broadcast(struct fid_ep *ep, void *buf, size_t count,
				     void *desc, fi_addr_t coll_addr,
				     fi_addr_t root_addr, enum fi_datatype type,
				     uint64_t flags, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t rcm_no_coll_alltoall(struct fid_ep *ep, const void *buf,
				    size_t count, void *desc, void *result,
				    void *result_desc, fi_addr_t coll_addr,
				    enum fi_datatype type, uint64_t flags,
				    void *context)
{
	return -FI_ENOSYS;
}

static ssize_t rcm_no_coll_reduce_all(struct fid_ep *ep, const void *buf,
				      size_t count, void *desc, void *result,
				      void *result_desc, fi_addr_t coll_addr,
				      enum fi_datatype type, enum fi_op op,
				      uint64_t flags, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t rcm_no_coll_reduce(struct fid_ep *ep, const void *buf,
				  size_t count, void *desc, void *result,
				  void *result_desc, fi_addr_t coll_addr,
				  fi_addr_t root_addr, enum fi_datatype type,
				  enum fi_op op, uint64_t flags, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t rcm_no_coll_scatter(struct fid_ep *ep, const void *buf,
				   size_t count, void *desc, void *result,
				   void *result_desc, fi_addr_t coll_addr,
				   fi_addr_t root_addr, enum fi_datatype type,
				   uint64_t flags, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t rcm_no_coll_msg(struct fid_ep *ep,
			       const struct fi_msg_collective *msg,
			       struct fi_ioc *resultv, void **result_desc,
			       size_t result_count, uint64_t flags)
{
	return -FI_ENOSYS;
}

static ssize_t rcm_no_coll_barrier2(struct fid_ep *ep, fi_addr_t coll_addr,
				    uint64_t flags, void *context)
{
	return -FI_ENOSYS;
}

struct fi_ops_collective rcm_no_collective_ops = {
	.size = sizeof(struct fi_ops_collective),
	.barrier = rcm_no_coll_barrier,
	.broadcast = rcm_no_coll_broadcast,
	.alltoall = rcm_no_coll_alltoall,
	.allreduce = rcm_no_coll_reduce_all,
	.allgather = rcm_no_coll_alltoall,
	.reduce_scatter = rcm_no_coll_reduce_all,
	.reduce = rcm_no_coll_reduce,
	.scatter = rcm_no_coll_scatter,
	.gather = rcm_no_coll_scatter,
	.msg = rcm_no_coll_msg,
	.barrier2 = rcm_no_coll_barrier2,
};
/* NOLINTEND(readability-function-size) */

static int rcm_no_cm_setname(fid_t fid, void *addr, size_t len)
{
	return -FI_ENOSYS;
}

static int rcm_no_cm_getname(fid_t fid, void *addr, size_t *len)
{
	return -FI_ENOSYS;
}

int rcm_no_cm_getpeer(struct fid_ep *ep, void *addr, size_t *len)
{
	return -FI_ENOSYS;
}

int rcm_no_cm_connect(struct fid_ep *ep, const void *addr, const void *param,
		      size_t len)
{
	return -FI_ENOSYS;
}

int rcm_no_cm_listen(struct fid_pep *pep)
{
	return -FI_ENOSYS;
}

int rcm_no_cm_accept(struct fid_ep *ep, const void *param, size_t len)
{
	return -FI_ENOSYS;
}

int rcm_no_cm_reject(struct fid_pep *pep, fid_t handle, const void *param,
		     size_t len)
{
	return -FI_ENOSYS;
}

int rcm_no_cm_shutdown(struct fid_ep *ep, uint64_t flags)
{
	return -FI_ENOSYS;
}

int rcm_no_cm_join(struct fid_ep *ep, const void *addr, uint64_t flags,
		   struct fid_mc **mc, void *context)
{
	return -FI_ENOSYS;
}

struct fi_ops_cm rcm_no_cm_ops = {
	.size = sizeof(struct fi_ops_cm),
	.setname = rcm_no_cm_setname,
	.getname = rcm_no_cm_getname,
	.getpeer = rcm_no_cm_getpeer,
	.connect = rcm_no_cm_connect,
	.listen = rcm_no_cm_listen,
	.accept = rcm_no_cm_accept,
	.reject = rcm_no_cm_reject,
	.shutdown = rcm_no_cm_shutdown,
	.join = rcm_no_cm_join,
};
