// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

/// @title The part of Permit2 that is used here
interface IPermit2 {
    struct TokenPermissions {
        address token;
        uint256 amount;
    }

    struct PermitTransferFrom {
        TokenPermissions permitted;
        uint256 nonce;
        uint256 deadline;
    }

    struct SignatureTransferDetails {
        address to;
        uint256 requestedAmount;
    }

    /// @notice Moves a token as its owner signed it. The caller must be the signed spender.
    function permitWitnessTransferFrom(
        PermitTransferFrom calldata permit,
        SignatureTransferDetails calldata transferDetails,
        address owner,
        bytes32 witness,
        string calldata witnessTypeString,
        bytes calldata signature
    ) external;
}

/// @title The common part of the proxies that settle x402 payments by Permit2
/// @notice A payer signs a proxy as spender, and the recipient in the witness, which the proxy enforces. So no sender of
/// the permit can redirect the money.
/// @dev Without storage and immutables, because the devnet places only the code, at the address that payers sign for.
abstract contract PermitProxy is ReentrancyGuardTransient {
    /// @notice The contract that the payer has approved.
    IPermit2 public constant PERMIT2 = IPermit2(0x000000000022D473030F116dDEE9F6B43aC78BA3);

    /// @notice A payment was settled; the token's own log identifies it.
    event Settled();

    /// @notice The amount is zero.
    error InvalidAmount();

    /// @notice The owner is the zero address.
    error InvalidOwner();

    /// @notice The recipient is the zero address, which would burn the tokens.
    error InvalidDestination();

    /// @notice The payer's `validAfter` is in the future.
    error PaymentTooEarly();

    function _settle(
        IPermit2.PermitTransferFrom calldata permit,
        IPermit2.SignatureTransferDetails memory details,
        address owner,
        uint256 validAfter,
        bytes32 witness,
        string memory witnessTypeString,
        bytes calldata signature
    ) internal {
        require(details.requestedAmount > 0, InvalidAmount());
        require(owner != address(0), InvalidOwner());
        require(details.to != address(0), InvalidDestination());
        require(block.timestamp >= validAfter, PaymentTooEarly());
        PERMIT2.permitWitnessTransferFrom(permit, details, owner, witness, witnessTypeString, signature);
        emit Settled();
    }
}

/// @title Settles x402 payments of scheme `exact` by Permit2
/// @notice Anyone may send a permit; it moves the whole permitted amount to the recipient that the payer signed.
contract ExactPermitProxy is PermitProxy {
    /// @notice The witness: the payer signs it together with the permit.
    struct Witness {
        address to;
        uint256 validAfter;
    }

    /// @notice The part of the signed EIP-712 type that begins with the witness.
    string public constant WITNESS_TYPE_STRING =
        "Witness witness)TokenPermissions(address token,uint256 amount)Witness(address to,uint256 validAfter)";

    bytes32 public constant WITNESS_TYPEHASH = keccak256("Witness(address to,uint256 validAfter)");

    /// @notice Settles a permit: moves the signed amount.
    /// @param permit Token, amount, the payer's nonce and the deadline.
    /// @param owner The payer, which signed.
    /// @param witness The recipient, and the start of validity.
    /// @param signature Over the permit with this contract as spender, in Permit2's EIP-712 domain.
    function settle(
        IPermit2.PermitTransferFrom calldata permit,
        address owner,
        Witness calldata witness,
        bytes calldata signature
    ) external nonReentrant {
        IPermit2.SignatureTransferDetails memory details = IPermit2.SignatureTransferDetails({
            to: witness.to,
            requestedAmount: permit.permitted.amount
        });
        bytes32 hash = keccak256(abi.encode(WITNESS_TYPEHASH, witness.to, witness.validAfter));
        _settle(permit, details, owner, witness.validAfter, hash, WITNESS_TYPE_STRING, signature);
    }
}

/// @title Settles x402 payments of scheme `upto` by Permit2
/// @notice Only the facilitator that the payer signed may send a permit; it also states the amount that was used.
contract UptoPermitProxy is PermitProxy {
    /// @notice The witness: the payer signs it together with the permit.
    struct Witness {
        address to;
        address facilitator;
        uint256 validAfter;
    }

    /// @notice The part of the signed EIP-712 type that begins with the witness.
    string public constant WITNESS_TYPE_STRING =
        "Witness witness)TokenPermissions(address token,uint256 amount)Witness(address to,address facilitator,uint256 validAfter)";

    bytes32 public constant WITNESS_TYPEHASH =
        keccak256("Witness(address to,address facilitator,uint256 validAfter)");

    /// @notice The amount is above the permitted amount.
    error AmountExceedsPermitted();

    /// @notice The caller is not the facilitator that the payer signed.
    error UnauthorizedFacilitator();

    /// @notice Settles a permit: moves the used amount, up to the signed maximum.
    /// @param permit Token, maximum amount, the payer's nonce and the deadline.
    /// @param amount The amount, in base units.
    /// @param owner The payer, which signed.
    /// @param witness The recipient, the facilitator that may send it, and the start of validity.
    /// @param signature Over the permit with this contract as spender, in Permit2's EIP-712 domain.
    function settle(
        IPermit2.PermitTransferFrom calldata permit,
        uint256 amount,
        address owner,
        Witness calldata witness,
        bytes calldata signature
    ) external nonReentrant {
        require(msg.sender == witness.facilitator, UnauthorizedFacilitator());
        require(amount <= permit.permitted.amount, AmountExceedsPermitted());
        IPermit2.SignatureTransferDetails memory details = IPermit2.SignatureTransferDetails({
            to: witness.to,
            requestedAmount: amount
        });
        bytes32 hash = keccak256(abi.encode(WITNESS_TYPEHASH, witness.to, witness.facilitator, witness.validAfter));
        _settle(permit, details, owner, witness.validAfter, hash, WITNESS_TYPE_STRING, signature);
    }
}
